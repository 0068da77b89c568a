process.env['TEST_CELLS'] = 'engine';
await import('../cell/life.test.ts');
