process.env['TEST_CELLS'] = 'engine';
await import('../cell/sizes.test.ts');
