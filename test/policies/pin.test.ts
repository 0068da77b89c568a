import assert from 'node:assert/strict';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { canonical, type Digest, sha256 } from '@hotcell/contract/digest.ts';
import { HotcellError } from '@hotcell/contract/errors.ts';
import { recordKeys } from '@hotcell/record/layout.ts';
import { newRunId } from '@hotcell/contract/names.ts';
import { policyDigest } from '@hotcell/contract/policy.ts';
import type { Spec } from '@hotcell/contract/spec.ts';
import { judgePinned } from '@hotcell/executor-worker/pull/judge.ts';
import { PinnedPolicies } from '@hotcell/record/pinned-policies.ts';
import type { Buckets } from '@hotcell/record/buckets.ts';
import { readSeccomp } from '@hotcell/policies/installation-here.ts';
import type { LoadedPolicy } from '@hotcell/policies/load-policies.ts';
import { PolicyPins } from '@hotcell/producer/policies/pin.ts';
import { PolicyShelf } from '@hotcell/producer/policies/shelf.ts';
import { type Bed, openBed } from '../support/bed.ts';
import { until } from '../support/until.ts';

let bed: Bed;
let producer: Buckets;
let worker: Buckets;
let folder: string;
const open: Disposable[] = [];

before(async () => {
  bed = await openBed();
  producer = bed.store('producer');
  worker = bed.store('worker');
  folder = await bed.folder('policies');
});
after(async () => {
  for (const one of open) one[Symbol.dispose]();
  await bed[Symbol.asyncDispose]();
});

const packages = '{"packages":["python3 3.13"]}\n';

/** A policy of this test's own, with a package list and the shipped profiles. */
async function policyFile(
  name: string,
  said = '',
): Promise<{ loaded: LoadedPolicy; imagesLock: string; shelf: PolicyShelf }> {
  const home = join(folder, name);
  await mkdir(join(home, 'policies'), { recursive: true });
  await mkdir(join(home, 'images'), { recursive: true });
  const imagesLock = join(home, 'images.lock');
  const image = { ...bed.images.python, kind: 'cell', packages: sha256(packages) };
  await writeFile(imagesLock, JSON.stringify({ python: image }));
  await writeFile(join(home, 'images/python.packages.json'), packages);
  await writeFile(join(home, 'policies', `${name}.yaml`), `description: ${bed.tenant()}\n${said}`);
  const shelf = new PolicyShelf({ folder: join(home, 'policies'), imagesLock });
  return { loaded: shelf.get(name), imagesLock, shelf };
}

function pinsOf(imagesLock: string): PolicyPins {
  const pins = new PolicyPins(producer, { imagesLock });
  open.push(pins);
  return pins;
}

function pinned(): PinnedPolicies {
  const policies = new PinnedPolicies(worker);
  open.push(policies);
  return policies;
}

const specUnder = ({ policy, digest }: LoadedPolicy): Spec => {
  const image = policy.images[0] ?? assert.fail();
  return {
    version: 1,
    run: newRunId(),
    tenant: 'tests',
    requester: { key: 'tests', role: 'submitter' },
    acceptedAt: new Date().toISOString(),
    blocks: [{ language: 'python', code: 'print(1)' }],
    files: [],
    params: {},
    policy: { name: policy.name, digest },
    image: { ref: image.ref, digest: image.digest },
    runtime: policy.runtime,
    inputs: [],
    limits: {},
    env: {},
    labels: {},
    priority: 5,
    warnings: [],
  };
};

const refusal = (error: unknown) => error instanceof HotcellError && error.code === 'policy_refused';

describe('a policy at its first use', () => {
  test('is recorded under its digest, with the profiles and package lists that it names', async () => {
    const { loaded, imagesLock } = await policyFile('first');
    await pinsOf(imagesLock).pin(loaded);
    const text = await producer.getBytes(producer.record, recordKeys.policy(loaded.digest));
    assert.equal(text?.toString(), canonical(loaded.policy));
    assert.equal(sha256(text ?? ''), loaded.digest);
    assert.equal((await producer.getBytes(producer.record, recordKeys.image(sha256(packages))))?.toString(), packages);
    const profiles = readSeccomp().filter(({ name }) => name.startsWith('runc-'));
    assert.deepEqual(loaded.policy.seccomp, Object.fromEntries(profiles.map(({ name, digest }) => [name, digest])));
    assert.ok(profiles.length > 0);
    for (const { digest, text: profile } of profiles)
      assert.equal((await producer.getBytes(producer.record, recordKeys.seccomp(digest)))?.toString(), profile);
  });

  test('is refused if the package list is not the one in the lock', async () => {
    const { loaded, imagesLock } = await policyFile('tampered');
    await writeFile(join(folder, 'tampered/images/python.packages.json'), '{}');
    await assert.rejects(pinsOf(imagesLock).pin(loaded), /The package list of the image python is not the one/);
    assert.equal(await producer.getBytes(producer.record, recordKeys.policy(loaded.digest)), undefined);
  });

  test('can be read by the worker, which derives the same limits, but cannot be written by it', async () => {
    const { loaded, imagesLock } = await policyFile('read', 'limits: { pids: 77 }');
    await pinsOf(imagesLock).pin(loaded);
    const effective = judgePinned(await pinned().get(loaded.digest), specUnder(loaded));
    assert.equal(effective.limits.pids, 77);
    await assert.rejects(
      worker.put(worker.record, recordKeys.policy(sha256('other')), '{}'),
      (error) => error instanceof HotcellError && error.code === 'forbidden',
    );
    await assert.rejects(
      worker.put(worker.record, recordKeys.policyRevoked(loaded.digest), '{}'),
      (error) => error instanceof HotcellError && error.code === 'forbidden',
    );
  });
});

describe('the worker', () => {
  test('rejects a spec that exceeds the pinned policy, with every reason', async () => {
    const { loaded, imagesLock } = await policyFile('beyond');
    await pinsOf(imagesLock).pin(loaded);
    const spec = {
      ...specUnder(loaded),
      limits: { memoryBytes: 2 ** 40 },
      env: { LD_PRELOAD: '/inputs/x.so' },
      runtime: 'gvisor' as const,
    };
    const policy = await pinned().get(loaded.digest);
    assert.throws(
      () => judgePinned(policy, spec),
      (error) => refusal(error) && error instanceof HotcellError && error.issues.length === 3,
    );
  });

  test('does not judge by a policy that is not in the record or does not match its digest', async () => {
    const absent = sha256('nobody put this');
    await assert.rejects(pinned().get(absent), /The record has no policy sha256:/);
    const operator = bed.store('operator');
    const forged = sha256(`forged ${bed.tenant()}`);
    await operator.put(operator.record, recordKeys.policy(forged), canonical({ version: 1 }));
    await assert.rejects(
      pinned().get(forged),
      (error) => error instanceof HotcellError && error.code === 'record_damaged',
    );
  });
});

describe('a policy that is revoked', () => {
  test('is refused from then on, by the producer and by workers that have used it', async () => {
    const { loaded, imagesLock } = await policyFile('revoked');
    const pins = pinsOf(imagesLock);
    await pins.pin(loaded);
    const policies = pinned();
    const spec = specUnder(loaded);
    assert.equal(judgePinned(await policies.get(loaded.digest), spec).queue, 'runc');
    const revocation = await pins.revoke(loaded.digest, 'operator', 'lets through too much');
    assert.equal(revocation.policy, loaded.digest);
    await assert.rejects(
      pins.pin(loaded),
      (error) => refusal(error) && /was revoked at .*: lets through too much/.test(String(error)),
    );
    const seen = await until('the worker knows', async () => {
      const one = await policies.get(loaded.digest);
      return one.revoked ? one : undefined;
    });
    assert.throws(
      () => judgePinned(seen, spec),
      (error) => refusal(error) && /lets through too much/.test(String(error)),
    );
  });

  test('stays revoked for the first reason, and another version of the same name is not revoked', async () => {
    const { loaded, imagesLock } = await policyFile('again');
    const pins = pinsOf(imagesLock);
    await pins.pin(loaded);
    await pins.revoke(loaded.digest, 'operator', 'first');
    assert.equal((await pins.revoke(loaded.digest, 'operator', 'second')).reason, 'first');
    const { loaded: repaired, imagesLock: lock } = await policyFile('again', 'limits: { pids: 20 }');
    await pinsOf(lock).pin(repaired);
    assert.equal((await pinned().get(repaired.digest)).revoked, undefined);
  });

  test('must exist', async () => {
    const { imagesLock } = await policyFile('none');
    const digest: Digest = sha256('never seen');
    await assert.rejects(pinsOf(imagesLock).revoke(digest, 'operator', 'x'), /The record has no policy/);
  });
});

describe('the shelf', () => {
  test('notices when a file or an image changes', async () => {
    const { loaded, imagesLock, shelf } = await policyFile('shelf');
    const file = join(folder, 'shelf/policies/shelf.yaml');
    await writeFile(file, `${await readFile(file, 'utf8')}limits: { pids: 50 }\n`);
    const edited = await until('the shelf has the edited policy', async () =>
      shelf.get('shelf').policy.limits.pids.max === 50 ? shelf.get('shelf') : undefined,
    );
    assert.notEqual(edited.digest, loaded.digest);
    await writeFile(imagesLock, JSON.stringify({ python: { ...bed.images.node, kind: 'cell' } }));
    const rebuilt = await until('the shelf has the rebuilt image', async () =>
      shelf.get('shelf').policy.images[0]?.digest === bed.images.node.digest ? shelf.get('shelf') : undefined,
    );
    assert.equal(rebuilt.digest, policyDigest(rebuilt.policy));
  });

  test('drops a policy whose file is invalid, and says where', async () => {
    const { shelf } = await policyFile('spoilt');
    await writeFile(join(folder, 'spoilt/policies/spoilt.yaml'), 'argv: maybe\n');
    await until('the shelf reports the problem', async () => shelf.problems().length > 0);
    assert.throws(
      () => shelf.get('spoilt'),
      (error) => refusal(error) && /spoilt\.yaml:1:1: argv: must be a boolean, not a string/.test(String(error)),
    );
    assert.throws(
      () => shelf.get('spoild'),
      (error) => refusal(error) && /Policy not found: spoild\. Did you mean spoilt\?/.test(String(error)),
    );
  });
});
