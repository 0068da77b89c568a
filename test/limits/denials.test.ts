import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { type Bed, openBed } from '../support/bed.ts';
import { openRuns, python, runtimes, type Runs } from './support/runs.ts';

let bed: Bed;
let runs: Runs;
before(async () => {
  bed = await openBed();
  runs = await openRuns(bed, 'denials');
});
after(async () => {
  await runs?.[Symbol.asyncDispose]();
  await bed?.[Symbol.asyncDispose]();
});

const connect = (times: number) => `
import socket
for left in reversed(range(${times})):
    try: socket.create_connection(("192.0.2.1", 80))
    except OSError:
        if left == 0: raise
`;

for (const runtime of runtimes)
  suite(`on ${runtime} a run`, () => {
    test('that failed after it tried the network says so, by the kernel’s count', async () => {
      const ran = await runs.run(runtime, { blocks: python(connect(3)) });
      assert.deepEqual([ran.verdict.outcome, ran.verdict.exitCode], ['failed', 1]);
      assert.equal(
        ran.verdict.reason,
        'Your code failed (exit code 1). See the log above. It tried to reach the network 3 times, and the policy test seals it: bring data as inputs, and packages in the image.',
      );
      assert.deepEqual(ran.verdict.warnings, []);
    });

    test('that hid its failed look-up of a name has a warning', async () => {
      const code = 'import socket\ntry: socket.getaddrinfo("example.org", 443)\nexcept OSError: print("offline")';
      const ran = await runs.run(runtime, { blocks: python(code) });
      assert.equal(ran.verdict.outcome, 'succeeded');
      assert.match(
        ran.verdict.warnings.join(),
        /^It tried to reach the network \d+ times?, and the policy test seals it/,
      );
    });

    test('that uses only its own loopback says nothing of the network', async () => {
      const code = `
import socket, sys
with socket.create_server(("127.0.0.1", 0)) as server: socket.create_connection(server.getsockname()).close()
try: socket.create_connection(("127.0.0.1", 9))
except ConnectionRefusedError: sys.exit(1)
`;
      const ran = await runs.run(runtime, { blocks: python(code) });
      assert.equal(ran.verdict.reason, 'Your code failed (exit code 1). See the log above.');
      assert.deepEqual(ran.verdict.warnings, []);
    });

    const missing: [code: string, language: string, named: RegExp][] = [
      [
        'import sklearn.ensemble',
        'python',
        /lacks the Python module sklearn \(of the package scikit-learn\): packages are/,
      ],
      ['no-such-program --version', 'bash', /lacks the program no-such-program: packages are part of the image/],
    ];
    for (const [code, language, named] of missing)
      test(`that lacks something names it: ${code}`, async () => {
        const ran = await runs.run(runtime, { blocks: [{ language, code }] });
        assert.equal(ran.verdict.outcome, 'failed');
        assert.match(ran.verdict.reason, named);
      });

    for (const [how, code] of [
      ['require', 'require("lodash/fp")'],
      ['import', 'import("lodash/fp").catch((error) => { console.error(error); process.exit(1) })'],
    ] as const)
      test(`that lacks a Node package names it, by ${how}`, async () => {
        const ran = await runs.run(runtime, { blocks: [{ language: 'javascript', code }], image: bed.images.node });
        assert.match(ran.verdict.reason, /lacks the Node package lodash: packages are part of the image/);
      });
  });
