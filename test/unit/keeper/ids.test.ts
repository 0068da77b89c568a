import assert from 'node:assert/strict';
import { basename, dirname } from 'node:path';
import { test } from 'node:test';
import { Ids } from '@hotcell/keeper/ids.ts';

/** What a host reserves: a folder that only one can make, and that goes only when nothing is in it. */
function host() {
  const taken = new Set<string>();
  const within = (path: string) =>
    [...taken].filter((other) => dirname(other) === path).map((other) => basename(other));
  return {
    taken,
    within,
    reserve: (path: string) => !taken.has(path) && taken.add(path).size > 0,
    release: (path: string) => within(path).length === 0 && taken.delete(path),
  };
}
const idBlock = 65_536;

test('no two living cells have an id in common, whatever keepers made them', () => {
  for (const ownUsers of [true, false]) {
    const cgroups = host();
    const keepers = [new Ids(cgroups, 'one', ownUsers), new Ids(cgroups, 'two', ownUsers)];
    const leases = Array.from({ length: 200 }, (_, i) => keepers[i % 2]?.lease(`cell-${i}`));
    assert.equal(new Set(leases.map((lease) => lease?.number)).size, 200);
    const own = leases.map((lease) => lease?.base ?? lease?.uid ?? 0).toSorted((a, b) => a - b);
    const apart = ownUsers ? idBlock : 1;
    assert.ok(own.every((id, i) => i === 0 || id - (own[i - 1] ?? 0) >= apart));
  }
});

test('a cell with a user namespace has uids far above those of people, and without one it stays below ext4’s own', () => {
  const [kept, plain] = [new Ids(host(), 'one', true).lease('a'), new Ids(host(), 'one', false).lease('a')];
  assert.equal(kept.uid, 10_000);
  assert.ok((kept.base ?? 0) >= 1_000_000_000);
  // The last id of the last range is still one.
  assert.ok(1_000_000_000 + 9_000 * idBlock < 2 ** 32);
  assert.equal(plain.base, undefined);
  assert.ok(plain.uid >= 50_000 && plain.uid < 59_000);
});

test('ids that are given back are leased again, and only by the cell that has them', () => {
  const cgroups = host();
  const ids = new Ids(cgroups, 'one', true);
  const before = cgroups.taken.size;
  const { number } = ids.lease('one');
  ids.release({ number, cell: 'other' });
  assert.ok(cgroups.taken.size > before, 'another cell’s note gives nothing back');
  ids.release({ number, cell: 'one' });
  assert.equal(cgroups.taken.size, before);
  ids.release({ number, cell: 'one' });
});

test('when all ids are leased, no cell is made until one is given back', () => {
  const ids = new Ids(host(), 'one', false);
  const leases = Array.from({ length: 9_000 }, (_, i) => ids.lease(`c${i}`));
  assert.equal(new Set(leases.map(({ uid }) => uid)).size, 9_000);
  assert.throws(() => ids.lease('one more'), { code: 'cell_failed' });
  ids.release({ number: leases[17]?.number ?? -1, cell: 'c17' });
  assert.equal(ids.lease('one more').number, leases[17]?.number);
});

test('a keeper gives back what its dead predecessor leased for cells that are gone, and nothing of another keeper', () => {
  const cgroups = host();
  const others = new Ids(cgroups, 'two', true).lease('theirs');
  const before = new Ids(cgroups, 'one', true);
  const kept = before.lease('kept');
  const lost = before.lease('lost');
  // The predecessor died between the folder of a number and what names its cell.
  cgroups.reserve('/hotcell-ids/9001');
  new Ids(cgroups, 'one', true).releaseLost((cell) => cell === 'kept');
  assert.deepEqual(
    cgroups.within('/hotcell-ids').toSorted(),
    [`${others.number}`, `${kept.number}`].toSorted(),
    `${lost.number} and 9001 are free`,
  );
});

test('a number whose folder another keeper’s sweep removed meanwhile is left out', () => {
  const cgroups = host();
  let swept: string | undefined;
  const reserve = (path: string) => {
    const isLeaf = path.includes('.');
    if (isLeaf && swept === undefined) swept = dirname(path);
    return dirname(path) !== swept && cgroups.reserve(path);
  };
  const lease = new Ids({ ...cgroups, reserve }, 'one', true).lease('cell');
  assert.notEqual(swept, undefined);
  assert.notEqual(swept, `/hotcell-ids/${lease.number}`);
});
