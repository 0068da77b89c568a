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
import { withstands } from './support/withstands.ts';

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
  const folder = await bed.shortFolder();
  const secretPlace = join(folder, 'hotcell-secret-place');
  await mkdir(secretPlace);
  const abstract = `hotcell-test-${randomBytes(6).toString('hex')}`;
  const tcp = greeting();
  await listening(tcp, 0);
  await listening(greeting(), `\0${abstract}`);
  await listening(greeting(), join(secretPlace, 'socket'));
  const address = tcp.address();
  if (address === null || typeof address === 'string') throw new Error('the listener has no port');
  // This process is the worker of these cells: no cell may find this secret.
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
      // One after the other: both neighbours would meet in the host's network.
      weak = await runWeak(bed, runtime, attacks, things);
      sealed = await runSealed(cells, runtime, attacks, things);
    });
    for (const attack of attacks)
      test(`a cell withstands an attempt ${attack.tries} (${attack.lines}), unlike a weak container`, (t) => {
        const inCell = observationIn(sealed.get(attack.name) ?? '', attack.name, 'the cell');
        const inWeak = observationIn(weak.get(attack.name) ?? '', attack.name, 'the weak container');
        t.diagnostic(`the cell observed ${JSON.stringify(inCell)}`);
        t.diagnostic(`the weak container observed ${JSON.stringify(inWeak)}`);
        withstands(attack, runtime, inCell);
        const without = withoutControl(attack, runtime, inWeak);
        if (without.length > 0) t.diagnostic(`nothing shows ${without.join(', ')}: denied in the weak container, too`);
      });
  });

/** Errors of a kernel that lacks a feature: neither success nor denial. */
const absent = ['ENOSYS', 'ENODEV', 'ENXIO', 'EAFNOSUPPORT', 'ENOTSUP'];

/**
 * The attempt must succeed in the weak container, or it proves nothing; only observations that the kernel or gVisor denies
 * to every process may fail. Those are returned.
 */
function withoutControl(attack: NamedAttack, runtime: Runtime, seen: Observation): string[] {
  const denied = attack.deniedAnyway?.[runtime] ?? {};
  const without = Object.entries(attack.sealed).flatMap(([what, allowed]) => {
    const have = seen[what];
    const succeeded =
      have !== undefined && !allowedFor(allowed, runtime).includes(have) && !absent.includes(String(have));
    return succeeded ? [] : [what];
  });
  for (const what of without)
    assert.ok(
      allowedFor(denied[what] ?? [], runtime).some((one) => one === seen[what]),
      `in the weak container ${what} was ${String(seen[what])}, as in a cell or as where there is no such thing: the attack shows nothing; all: ${JSON.stringify(seen)}`,
    );
  assert.ok(
    without.length < Object.keys(attack.sealed).length,
    `${attack.name} has no control on ${runtime}: nothing of it succeeds in the weak container; all: ${JSON.stringify(seen)}`,
  );
  return without;
}

test('every line of the checklist about code in a cell has an attack', () => {
  const shown = new Set(attacks.map(({ lines }) => lines));
  const wanted = [...range(1, 42), '7a', '7b', ...range(64, 71)];
  // About the host's versions, not about code: see versions.test.ts.
  assert.deepEqual(
    wanted.filter((line) => !shown.has(line)),
    ['33'],
  );
});

function range(from: number, to: number): string[] {
  return Array.from({ length: to - from + 1 }, (_, i) => String(from + i));
}
