import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { sha256 } from '@hotcell/contract/digest.ts';
import type { CellPlan } from '@hotcell/executor-worker/cell/cell-plan.ts';
import { Kind } from '@hotcell/executor-worker/waiting/kind.ts';
import { Kinds } from '@hotcell/executor-worker/waiting/kinds.ts';
import { PinnedClasses } from '@hotcell/executor-worker/waiting/pinned-classes.ts';
import { openLog } from '@hotcell/outside/process/log.ts';
import { testLimits } from '../../../support/limits.ts';

const log = openLog('test', 'silent');
const init = sha256('init');
const plan: CellPlan = {
  ...{ run: 'one', attempt: 1, runtime: 'runc', limits: testLimits, mounts: [], env: { SECRET: 'x' }, imageEnv: ['A'] },
  image: { ref: 'python', digest: sha256('python') },
  log: { headBytes: 1, tailBytes: 1, pastLimit: 'stop' },
  seccomp: {},
};
const policy = (version: string) => ({ name: 'sealed', digest: sha256(version) });
const kind = (name: string) => new Kind(sha256(name), init, plan);
const pins = new Map([['sealed', 2]]);
const pinnedIn = (kinds: Kinds) => kinds.claimants(0).filter(({ pinned }) => pinned > 0);

function inFolder(work: (folder: string) => void): void {
  const folder = mkdtempSync(join(tmpdir(), 'pinned-'));
  try {
    work(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

test('the class of a pinned policy outlives its worker, without anything of a run', () =>
  inFolder((folder) => {
    new PinnedClasses(folder, log).keep(policy('1'), plan);
    const [recalled] = new PinnedClasses(folder, log).recall(pins.keys());
    const { runtime, image, limits, imageEnv, seccomp } = plan;
    assert.deepEqual(recalled, { version: 1, policy: policy('1'), runtime, image, limits, imageEnv, seccomp });
    assert.deepEqual(readdirSync(join(folder, 'pinned')), ['sealed.json']);
  }));

test('what can’t be read is learned again', () =>
  inFolder((folder) => {
    const classes = new PinnedClasses(folder, log);
    assert.deepEqual(classes.recall(pins.keys()), []);
    classes.keep(policy('1'), plan);
    writeFileSync(join(folder, 'pinned', 'sealed.json'), '{"version":1');
    assert.deepEqual(new PinnedClasses(folder, log).recall(pins.keys()), []);
  }));

test('a pin holds for the class that most runs of the policy asked for', () => {
  const kinds = new Kinds(pins);
  for (const name of ['usual', 'usual', 'odd']) kinds.note(kinds.get(sha256(name)) ?? kind(name), plan, policy('1'), 0);
  assert.deepEqual(
    pinnedIn(kinds).map(({ key, pinned }) => [key, pinned]),
    [[sha256('usual'), 2]],
  );
});

test('what was recalled makes way for a policy that was changed since', () => {
  const kinds = new Kinds(pins);
  const [before, now] = [kind('before'), kind('now')];
  kinds.recall(before, policy('1'));
  assert.deepEqual(
    pinnedIn(kinds).map(({ key }) => key),
    [before.key],
  );
  kinds.note(now, plan, policy('2'), 0);
  assert.equal(kinds.isCurrent(before, init), false);
  kinds.recall(before, policy('1'));
  assert.equal(kinds.isCurrent(now, init), true);
  assert.equal(kinds.isCurrent(now, sha256('another init')), false);
});

test('classes are bounded in number, and the one that was asked for longest ago makes way', () => {
  const kinds = new Kinds(new Map());
  const out = Array.from({ length: 70 }, (_, i) => kinds.note(kind(`${i}`), plan, policy('1'), i)?.key);
  assert.equal(kinds.all.length, 64);
  assert.deepEqual(
    out.slice(64),
    [0, 1, 2, 3, 4, 5].map((i) => sha256(`${i}`)),
  );
});
