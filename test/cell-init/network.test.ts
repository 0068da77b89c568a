import assert from 'node:assert/strict';
import { test } from 'node:test';
import { onBothRuntimes } from './support/bed.ts';
import { Init } from './support/init.ts';

const helpers = `
import contextlib, socket
def tcp(host, port, family=socket.AF_INET):
    with contextlib.suppress(OSError), socket.socket(family) as s: s.connect((host, port))
`;

onBothRuntimes('the kernel’s count of a block’s tries to reach the network', (runtime, bed) => {
  test('has its connections to outside and its questions for names, but no local connections', async () => {
    await using init = await Init.start(bed(), runtime);
    const outside = `${helpers}
for _ in range(3): tcp('192.0.2.1', 80)
tcp('2001:db8::1', 80, socket.AF_INET6)`;
    const name = `${helpers}
with contextlib.suppress(OSError): socket.getaddrinfo('example.org', 443)`;
    const local = `${helpers}
with socket.create_server(('127.0.0.1', 0)) as s: tcp(*s.getsockname())
tcp('127.0.0.1', 9)
socket.getaddrinfo('localhost', 80)`;
    const report = await init.run({ blocks: [outside, name, local] });
    const [out = 0, asked = 0, inside] = report.of('blockEnded').map(({ account }) => account.networkTries);
    assert.deepEqual([out, inside], [4, 0]);
    assert.ok(asked >= 1);
  });
});
