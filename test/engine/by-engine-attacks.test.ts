process.env['TEST_CELLS'] = 'engine';
await import('../hostile/attacks.test.ts');
