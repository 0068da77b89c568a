import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { Spec } from '@hotcell/contract/spec.ts';
import { judgePinned } from '@hotcell/executor-worker/pull/judge.ts';
import { PinnedPolicies } from '@hotcell/record/pinned-policies.ts';
import { PolicyPins } from '@hotcell/producer/policies/pin.ts';
import { PolicyShelf } from '@hotcell/producer/policies/shelf.ts';
import { checkout, placesIn } from '@hotcell/setup/settings/installation.ts';
import { type Bed, openBed } from '../support/bed.ts';
import { echoSteps } from '../support/echo.ts';
import { type House, openHouse } from '../support/house.ts';
import { resultOf, settled } from '../support/promise.ts';
import { until } from '../support/until.ts';

/**
 * An attacker has the producer's keys: the store and the queue hold correctly signed specs and tickets that no admission
 * has judged. The worker judges them itself; the tests count the cells that it begins to make.
 */
let bed: Bed;
let house: House;
let pins: PolicyPins;
let policies: PinnedPolicies;
let shelf: PolicyShelf;
const cells: string[] = [];

before(async () => {
  bed = await openBed();
  house = await openHouse(bed);
  const { imagesLock } = placesIn(bed.installation.home);
  shelf = new PolicyShelf({ folder: join(checkout, 'policies'), imagesLock });
  pins = new PolicyPins(house.producer.store, { imagesLock });
  policies = new PinnedPolicies(house.store);
  await house.worker('one', {
    env: { HOTCELL_QUEUES: 'runc' },
    steps: {
      ...echoSteps,
      judge: async (spec) => judgePinned(await policies.get(spec.policy.digest), spec),
      seal: async (plan, left, asked) => {
        cells.push(plan.run);
        return await echoSteps.seal(plan, left, asked);
      },
    },
  });
});
after(async () => {
  await house[Symbol.asyncDispose]();
  pins[Symbol.dispose]();
  policies[Symbol.dispose]();
  await bed[Symbol.asyncDispose]();
});

/** What an honest producer would write. */
async function honest(name = 'sealed'): Promise<Pick<Spec, 'policy' | 'image' | 'blocks'>> {
  const loaded = shelf.get(name);
  await pins.pin(loaded);
  const [image] = loaded.policy.images;
  assert.ok(image);
  return {
    policy: { name, digest: loaded.digest },
    image: { ref: image.ref, digest: image.digest },
    blocks: [{ language: 'sh', code: 'print hello' }],
  };
}

async function outcomeOf(spec: Partial<Spec>) {
  const { run } = await house.submit('', { spec: { ...(await honest()), ...spec }, queue: 'runc' });
  const result = await resultOf(house, run);
  await settled(house, [run]);
  return { result, cell: cells.includes(run) };
}

test('an honest spec is executed', async () => {
  const { result, cell } = await outcomeOf({ limits: { timeoutSeconds: 30 }, env: { TZ: 'UTC' } });
  assert.equal(result.outcome, 'succeeded');
  assert.equal(result.limits?.timeoutSeconds, 30);
  assert.equal(cell, true);
});

describe('a forged spec is rejected before there is a cell, if it asks', () => {
  const asked: [what: string, spec: Partial<Spec>, path: string][] = [
    ['for more memory than the policy', { limits: { memoryBytes: 2 ** 40 } }, 'limits.memoryBytes'],
    ['for no end of processes', { limits: { pids: 100_000 } }, 'limits.pids'],
    ['for LD_PRELOAD', { env: { LD_PRELOAD: '/inputs/x.so' } }, 'env.LD_PRELOAD'],
    ['for another image', { image: { ref: 'docker.io/evil', digest: `sha256:${'6'.repeat(64)}` } }, 'image'],
    ['for another runtime', { runtime: 'gvisor' }, 'runtime'],
    [
      'for a language that the policy does not speak',
      { blocks: [{ language: 'powershell', code: '' }] },
      'blocks[0].language',
    ],
    [
      'for a file outside of its folder',
      { blocks: [{ language: 'sh', code: '# filename: ../../x\n' }] },
      'blocks[0].code',
    ],
    ['with a key that only reads', { requester: { key: 'x', role: 'reader' } }, 'a reader key'],
  ];
  for (const [what, spec, path] of asked)
    test(what, async () => {
      const { result, cell } = await outcomeOf(spec);
      assert.equal(result.outcome, 'rejected', result.reason);
      assert.ok(result.reason.includes(path), result.reason);
      assert.equal(cell, false);
    });

  test('for a generous policy by name and a small one by digest', async () => {
    const { policy } = await honest();
    const { result, cell } = await outcomeOf({
      policy: { name: 'analytics', digest: policy.digest },
      limits: { timeoutSeconds: 4800 },
    });
    assert.equal(result.outcome, 'rejected');
    assert.match(result.reason, /its digest is that of policy/);
    assert.match(result.reason, /limits\.timeoutSeconds/);
    assert.equal(cell, false);
  });
});

test('a run under a policy that was revoked after its ticket was queued is rejected, and says why', async () => {
  const { policy } = await honest('analytics');
  await pins.revoke(policy.digest, 'test', 'was too generous');
  await until('the worker knows of the revocation', async () => (await policies.get(policy.digest)).revoked);
  const { result, cell } = await outcomeOf({ policy });
  assert.equal(result.outcome, 'rejected');
  assert.match(result.reason, /was too generous/);
  assert.equal(cell, false);
});
