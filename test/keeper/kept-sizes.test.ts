process.env['TEST_CELLS'] = 'keeper';
await import('../cell/sizes.test.ts');
