process.env['TEST_CELLS'] = 'engine';
await import('../cell/blocks.test.ts');
