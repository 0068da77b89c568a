process.env['TEST_CELLS'] = 'engine';
await import('../limits/resources.test.ts');
