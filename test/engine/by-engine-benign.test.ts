process.env['TEST_CELLS'] = 'engine';
await import('../cell/benign.test.ts');
