process.env['TEST_CELLS'] = 'keeper';
await import('../cell/life.test.ts');
