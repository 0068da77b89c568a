process.env['TEST_CELLS'] = 'keeper';
await import('../cell/benign.test.ts');
