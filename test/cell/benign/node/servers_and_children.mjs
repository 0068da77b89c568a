import assert from 'node:assert/strict';
import { execFile, fork, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { promisify } from 'node:util';

if (process.argv[2] === 'child') {
  process.send('hello');
  process.disconnect();
} else {
  const server = createServer((_, response) => response.end('hello')).listen(0, 'localhost');
  await once(server, 'listening');
  const answer = await fetch(`http://localhost:${server.address().port}/`);
  assert.equal(await answer.text(), 'hello');
  server.close();
  server.closeAllConnections();
  assert.equal((await promisify(execFile)(process.execPath, ['-p', '6 * 7'])).stdout, '42\n');
  assert.equal(spawnSync('sh', ['-c', 'echo x | cat']).stdout.toString(), 'x\n');
  const [said] = await once(fork(new URL(import.meta.url).pathname, ['child']), 'message');
  assert.equal(said, 'hello');
}
