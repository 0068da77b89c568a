process.env['TEST_CELLS'] = 'engine';
await import('../limits/memory.test.ts');
