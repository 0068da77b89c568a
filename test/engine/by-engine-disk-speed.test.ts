process.env['TEST_CELLS'] = 'engine';
await import('../limits/disk-speed.test.ts');
