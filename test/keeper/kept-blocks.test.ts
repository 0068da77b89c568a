process.env['TEST_CELLS'] = 'keeper';
await import('../cell/blocks.test.ts');
