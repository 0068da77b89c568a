import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { type Bed, openBed } from '../support/bed.ts';
import { openTestCells, type TestCells } from '../support/cells.ts';
import { allowedFor, type Observation, type Runtime } from './support/attack.ts';
import { loadAttacks, type NamedAttack, observationIn, runtimes } from './support/load.ts';
import { runSealed } from './support/sealed.ts';
import { type HostThings, runWeak } from './support/weak.ts';

const attacks = await loadAttacks();
let bed: Bed;
let cells: TestCells;
let things: HostThings;
const servers: Server[] = [];

const listening = (server: Server, where: string | number) =>
  new Promise<void>((resolve, reject) => {
    servers.push(server);
    server.once('error', reject);
    if (typeof where === 'string') server.listen(where, resolve);
    else server.listen(where, '127.0.0.1', resolve);
  });
const greeting = () => createServer((socket) => socket.end('hello\n').on('error', () => socket.destroy()));

before(async () => {
  bed = await openBed();
  cells = await openTestCells(bed, 'hostile');
  const folder = await bed.folder('host-things');
  const secretPlace = join(folder, 'hotcell-secret-place');
  await mkdir(secretPlace);
  const abstract = `hotcell-test-${randomBytes(6).toString('hex')}`;
  const tcp = greeting();
  await listening(tcp, 0);
  await listening(greeting(), `\0${abstract}`);
  await listening(greeting(), join(secretPlace, 'socket'));
  const address = tcp.address();
  if (address === null || typeof address === 'string') throw new Error('the listener has no port');
  // In this process, which is the worker of these cells: no cell may find it.
  process.env['SOMETHING_SECRET'] = 'hotcell-worker-secret';
  things = { port: address.port, abstract, state: folder, secretPlace, secret: 'hotcell-worker-secret' };
});

after(async () => {
  for (const server of servers) server.close();
  await cells?.[Symbol.asyncDispose]();
  await bed?.[Symbol.asyncDispose]();
});

for (const runtime of runtimes)
  suite(`on ${runtime}`, () => {
    let sealed: ReadonlyMap<string, string>;
    let weak: ReadonlyMap<string, string>;
    before(async () => {
      // One after the other: the neighbours of both would meet in the host's network.
      weak = await runWeak(bed, runtime, attacks, things);
      sealed = await runSealed(cells, runtime, attacks, things);
    });
    for (const attack of attacks)
      test(`a cell withstands an attempt ${attack.tries} (${attack.lines}), which a weak container does not`, () => {
        const inCell = observationIn(sealed.get(attack.name) ?? '', attack.name, 'the cell');
        const inWeak = observationIn(weak.get(attack.name) ?? '', attack.name, 'the weak container');
        withstands(attack, runtime, inCell);
        controls(attack, runtime, inWeak);
      });
  });

function withstands(attack: NamedAttack, runtime: Runtime, seen: Observation): void {
  for (const [what, allowed] of Object.entries(attack.sealed))
    assert.ok(
      allowedFor(allowed, runtime).some((one) => one === seen[what]),
      `in the cell ${what} was ${String(seen[what])}; all: ${JSON.stringify(seen)}`,
    );
}

/** What a kernel says of a thing that it does not have: no success, and nothing that was denied either. */
const absent = ['ENOSYS', 'ENODEV', 'EAFNOSUPPORT', 'ENOTSUP'];

/** The same attempt succeeds where nothing is hardened, but for what the kernel or gVisor denies to everybody. */
function controls(attack: NamedAttack, runtime: Runtime, seen: Observation): void {
  const denied = attack.deniedAnyway?.[runtime] ?? {};
  for (const [what, allowed] of Object.entries(attack.sealed)) {
    const anyway = denied[what];
    const have = seen[what];
    if (anyway !== undefined && allowedFor(anyway, runtime).some((one) => one === have)) continue;
    assert.ok(
      have !== undefined && !allowedFor(allowed, runtime).includes(have) && !absent.includes(String(have)),
      `in the weak container ${what} was ${String(have)}, as in a cell or as where there is no such thing: the attack shows nothing; all: ${JSON.stringify(seen)}`,
    );
  }
}
