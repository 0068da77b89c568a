import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { PostureRecord } from '@hotcell/contract/frames-posture.ts';
import { formPosture } from '@hotcell/contract/posture-form.ts';
import type { CellPlan } from '@hotcell/executor-worker/cell/cell-plan.ts';
import { ownWords } from '@hotcell/executor-worker/cell/own-words.ts';
import { insideFacts } from '@hotcell/contract/posture/posture-facts.ts';

const { records }: { records: PostureRecord[] } = JSON.parse(
  readFileSync(join(import.meta.dirname, 'postures/runc.json'), 'utf8'),
);

/** As it was recorded, or as another cell of its kind would report it. */
function reported(words: { cell: string; uid: number; layer: string; inputs: string; tree: string; value: string }) {
  const { cell, uid, layer, inputs, tree, value } = words;
  const mount = { key: 'mount', options: 'ro', fstype: 'x', source: 'x', flags: 1, bytes: 1, inodes: 1 } as const;
  const own: PostureRecord[] = [
    { key: 'ids', ruid: uid, euid: uid, suid: uid, rgid: uid, egid: uid, sgid: uid },
    { key: 'uidMap', line: `         0 ${uid * 1000}      65536` },
    { key: 'env', name: 'JOB_X', sha256: value.repeat(64) },
    { ...mount, point: '/', root: '/', superOptions: `rw,lowerdir=/l/${layer}LINK:/l/IMAGE,upperdir=/x/${layer}/diff` },
    { ...mount, point: '/inputs', root: `/runs/${inputs}`, superOptions: 'rw' },
    { ...mount, point: '/inputs/sales', root: `/trees/${tree}`, superOptions: 'rw' },
    { ...mount, point: '/etc/hosts', root: `/cells/${cell}/hosts`, superOptions: 'rw' },
  ];
  const others = records.filter(({ key }) => key !== 'ids' && key !== 'mount' && key !== 'uidMap');
  const all = [...others, ...own];
  const outside = {
    container: `${cell}${cell}`,
    name: `hotcell-cell-${uid}`,
    bundle: `sha256:${tree}`,
    Uid: `${uid}000 0`,
  };
  const plan = {
    env: { JOB_X: value },
    mounts: [
      { source: `/runs/${inputs}`, target: '/inputs' },
      { source: `/trees/${tree}`, target: '/inputs/sales' },
    ],
  } as unknown as CellPlan;
  const made = { id: cell, uid, name: `hotcell-cell-${uid}`, plan };
  return formPosture({ inside: insideFacts(all), outside, worth: '' }, ownWords(made, all, outside));
}

test('cells that are isolated alike have one form, whatever their ids, layers, inputs and variables', () => {
  const one = {
    cell: '02ecfd7d420c21ad',
    uid: 23761,
    layer: 'aaaa',
    inputs: 'b1-c2',
    tree: 'd'.repeat(64),
    value: '5',
  };
  const other = {
    cell: 'fb1e9bf403517dd8',
    uid: 23999,
    layer: 'cccc',
    inputs: 'e3-f4',
    tree: 'e'.repeat(64),
    value: '6',
  };
  assert.equal(reported(one).digest, reported(other).digest);
});

test('the descriptors behind gVisor’s mounts are left out, since they are numbered in any order', () => {
  const { mount } = insideFacts([
    {
      key: 'mount',
      point: '/etc/group',
      root: '/',
      options: 'ro',
      fstype: '9p',
      source: 'none',
      superOptions: 'ro,trans=fd,rfdno=9,wfdno=9,aname=/',
      flags: 1,
      bytes: 1,
      inodes: 1,
    },
  ]);
  assert.match(String(mount), /trans=fd,rfdno=any,wfdno=any,aname=/);
});

test('mounts are in the order of their points, and at one point in the order in which they hide each other', () => {
  const mount = (point: string, root: string) =>
    ({
      key: 'mount',
      point,
      root,
      options: '',
      fstype: '',
      source: '',
      superOptions: '',
      flags: 0,
      bytes: 0,
      inodes: 0,
    }) as const;
  const lines = insideFacts([mount('/b', '1'), mount('/a', '2'), mount('/b', '0')])['mount'];
  assert.ok(Array.isArray(lines));
  assert.deepEqual(
    lines.map((line) => line.split(' ').slice(0, 2).join(' ')),
    ['point=/a root=2', 'point=/b root=1', 'point=/b root=0'],
  );
});
