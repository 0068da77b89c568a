import assert from 'node:assert/strict';
import os from 'node:os';

assert.equal(os.userInfo().username, 'job');
assert.equal(os.userInfo().homedir, '/work');
assert.equal(os.homedir(), '/work');
assert.equal(os.tmpdir(), '/tmp');
assert.equal(os.hostname(), 'cell');
assert.ok(os.availableParallelism() >= 1 && os.totalmem() > 0);
