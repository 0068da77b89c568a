process.env['TEST_CELLS'] = 'keeper';
await import('../hostile/attacks.test.ts');
