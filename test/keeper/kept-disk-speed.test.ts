process.env['TEST_CELLS'] = 'keeper';
await import('../limits/disk-speed.test.ts');
