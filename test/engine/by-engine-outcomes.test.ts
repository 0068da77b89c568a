process.env['TEST_CELLS'] = 'engine';
await import('../limits/outcomes.test.ts');
