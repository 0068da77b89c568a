import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { type MakeCell, mostInputs } from '@hotcell/contract/keeper-protocol.ts';
import { limitNames, limitTable } from '@hotcell/contract/limits.ts';
import { must } from '@hotcell/setup/command.ts';
import { type Bed, openBed } from '../support/bed.ts';
import { testLimits } from '../support/limits.ts';
import { openKeptCells } from '../support/cells.ts';

/** What a worker that was taken over can ask for, straight at the keeper's socket. */
let bed: Bed;
let made: Awaited<ReturnType<typeof openKeptCells>>;
let staging: string;
let machine: string;
before(async () => {
  bed = await openBed();
  made = await openKeptCells(bed, 'ceiling', { env: { HOTCELL_KEEPER_CELLS: '2' } });
  staging = join(made.stateDir, 'cache');
  ({ machine } = await made.keptBy.door.ask({ ask: 'about' }));
  await mkdir(join(staging, 'trees/one'), { recursive: true });
  await writeFile(join(staging, 'trees/file'), 'no folder');
  await symlink('/etc', join(staging, 'trees/link'));
  await symlink('../..', join(staging, 'trees/up'));
  await must(['mkfifo', join(staging, 'trees/fifo')]);
});
after(async () => {
  await made?.[Symbol.asyncDispose]();
  await bed?.[Symbol.asyncDispose]();
});

const profile = (runtime: 'runc' | 'gvisor' = 'runc') =>
  made.plan(runtime).seccomp[`${runtime}-${machine}`] ?? assert.fail(machine);
const request = (more: Partial<MakeCell> = {}): MakeCell => ({
  ask: 'make',
  cell: randomBytes(8).toString('hex'),
  worker: 'w1',
  deadline: new Date(Date.now() + 600_000).toISOString(),
  runtime: 'runc',
  image: bed.images.python.digest,
  seccomp: profile(),
  limits: testLimits,
  inputs: [],
  ...more,
});
const unknown = `sha256:${'0'.repeat(64)}`;

async function nothingIsLeft(): Promise<void> {
  assert.deepEqual(await made.keptBy.door.ask({ ask: 'list' }), []);
  assert.deepEqual(readdirSync(join(made.keptBy.folder, 'cells')), []);
}

const refused: Record<string, { more: () => Partial<MakeCell>; code: string }> = {
  'an image whose folder would be above the roots': {
    more: () => ({ image: 'sha256:../../../../etc' }),
    code: 'invalid',
  },
  'a cell whose folder would be elsewhere': { more: () => ({ cell: '../../roots/x00' }), code: 'invalid' },
  'a worker’s name that is a path': { more: () => ({ worker: '../x' }), code: 'invalid' },
  'an input through a link that stands for the staging folder’s own parent': {
    more: () => ({ inputs: [{ from: ['trees', 'up', 'keeper'], target: '/inputs' }] }),
    code: 'cell_failed',
  },
  'a device as an input': {
    more: () => ({ inputs: [{ from: ['trees', 'fifo'], target: '/inputs' }] }),
    code: 'cell_failed',
  },
  'a mount that climbs out of /inputs': {
    more: () => ({ inputs: [{ from: ['trees', 'one'], target: '/inputs/../etc' }] }),
    code: 'invalid',
  },
  'more inputs than a run can have': {
    more: () => ({
      inputs: Array.from({ length: mostInputs + 1 }, (_, i) => ({ from: ['trees', 'one'], target: `/inputs/i${i}` })),
    }),
    code: 'invalid',
  },
  'a runtime that the operator did not offer': { more: () => ({ runtime: 'runsc' as 'runc' }), code: 'invalid' },
  'an image that the operator did not install': { more: () => ({ image: unknown }), code: 'image_missing' },
  'a seccomp profile that is not one of ours': { more: () => ({ seccomp: unknown }), code: 'posture_differs' },
  'the seccomp profile of another runtime': {
    more: () => ({ seccomp: profile('gvisor') }),
    code: 'posture_differs',
  },
  'more memory than any cell may have': {
    more: () => ({ limits: { ...testLimits, memoryBytes: 2 ** 50 } }),
    code: 'invalid',
  },
  'an input through a link': {
    more: () => ({ inputs: [{ from: ['trees', 'link'], target: '/inputs' }] }),
    code: 'cell_failed',
  },
  'an input that is not a folder': {
    more: () => ({ inputs: [{ from: ['trees', 'file'], target: '/inputs' }] }),
    code: 'cell_failed',
  },
  'an input above the staging folder': {
    more: () => ({ inputs: [{ from: ['..', '..', 'etc'], target: '/inputs' }] }),
    code: 'invalid',
  },
  'a good input and one through a link': {
    more: () => ({
      inputs: [
        { from: ['trees', 'one'], target: '/inputs' },
        { from: ['trees', 'link', 'ssl'], target: '/inputs/ssl' },
      ],
    }),
    code: 'cell_failed',
  },
  'a mount in place of init': {
    more: () => ({ inputs: [{ from: ['trees', 'one'], target: '/cell-init' }] }),
    code: 'invalid',
  },
  'a field that is not in the protocol': {
    more: () => ({ mounts: [{ source: '/', target: '/host' }] }) as Partial<MakeCell>,
    code: 'invalid',
  },
};
test('no limit may be above its ceiling or below its floor, whatever a policy says', async () => {
  for (const name of limitNames) {
    const { min, max } = limitTable[name];
    for (const value of [max + 1, min - 1, Number.NaN, -1, 2 ** 53])
      await assert.rejects(
        made.keptBy.door.make(request({ limits: { ...testLimits, [name]: value } })),
        { code: 'invalid' },
        `${name} ${value}`,
      );
  }
  await nothingIsLeft();
});

for (const [what, { more, code }] of Object.entries(refused))
  test(`${what} makes no cell, and leaves nothing`, async () => {
    const order = request(more());
    await assert.rejects(made.keptBy.door.make(order), (error: Error & { code?: string }) => {
      assert.equal(error.code, code, error.message);
      return true;
    });
    await nothingIsLeft();
    assert.equal(made.keptBy.isLeased(order.cell), false);
  });

test('the same request without the forbidden part makes a cell', async () => {
  const order = request({ inputs: [{ from: ['trees', 'one'], target: '/inputs' }] });
  const { socket } = await made.keptBy.door.make(order);
  assert.equal(made.keptBy.isLeased(order.cell), true);
  socket.destroy();
  assert.deepEqual(await made.keptBy.door.ask({ ask: 'remove', cell: order.cell }), { isGone: true });
  assert.equal(made.keptBy.isLeased(order.cell), false);
  await nothingIsLeft();
});

test('a cell that is looked at while it is made is not taken for one that has ended', async () => {
  const order = request({ inputs: [{ from: ['trees', 'one'], target: '/inputs' }] });
  let isMade = false;
  const making = made.keptBy.door.make(order).finally(() => (isMade = true));
  while (!isMade) await made.keptBy.door.ask({ ask: 'list' });
  const { socket } = await making;
  const [listed] = await made.keptBy.door.ask({ ask: 'list' });
  assert.deepEqual([listed?.cell, listed?.hasEnded], [order.cell, false]);
  await made.keptBy.door.ask({ ask: 'kill', cell: order.cell });
  assert.equal((await made.keptBy.door.ask({ ask: 'end', cell: order.cell, withinMs: 60_000 })).hasEnded, true);
  socket.destroy();
  await made.keptBy.door.ask({ ask: 'remove', cell: order.cell });
  await nothingIsLeft();
});

test('one id names one cell, and no more cells are made than the keeper may keep', async () => {
  const [first, second] = [request(), request()];
  const sockets = [await made.keptBy.door.make(first), await made.keptBy.door.make(second)].map(({ socket }) => socket);
  try {
    await assert.rejects(made.keptBy.door.make(request({ cell: first.cell })), { code: 'conflict' });
    await assert.rejects(made.keptBy.door.make(request()), { code: 'cell_failed', message: /2 cells, as many/ });
    assert.equal((await made.keptBy.door.ask({ ask: 'list' })).length, 2);
  } finally {
    for (const socket of sockets) socket.destroy();
    for (const { cell } of [first, second]) await made.keptBy.door.ask({ ask: 'remove', cell });
  }
  await nothingIsLeft();
});

test('a cell that the keeper did not make can’t be looked at or killed through it', async () => {
  const cell = 'f'.repeat(16);
  for (const ask of ['outside', 'kill', 'memory'] as const)
    await assert.rejects(made.keptBy.door.ask({ ask, cell }), { code: 'not_found' });
  assert.deepEqual(await made.keptBy.door.ask({ ask: 'remove', cell }), { isGone: true });
});
