import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { policyDigest, queueOf } from '@hotcell/contract/policy.ts';
import { parsePolicyFile } from '@hotcell/contract/policy-file.ts';
import { erasableSince } from '@hotcell/contract/retention.ts';
import { mergePolicies, resolvePolicy } from '@hotcell/contract/policy-merge.ts';
import { admitted, builtHere, policyOf, refused } from '../../support/policies.ts';

function problems(said: unknown, name = 'tried'): string[] {
  const parsed = parsePolicyFile(name, said);
  const found = 'issues' in parsed ? parsed : resolvePolicy(name, parsed.policyFile, builtHere);
  assert.ok('issues' in found, 'nothing is wrong with it');
  return found.issues.map(({ path, message }) => `${path}: ${message}`);
}

describe('an empty policy', () => {
  const empty = policyOf({});

  test('lets a program print', () => {
    const { effective } = admitted(empty);
    assert.equal(effective.limits.outputBytes, 0);
    assert.deepEqual(effective.env, {});
  });

  test('lets nothing else be asked for', () => {
    const more = {
      blocks: [{ language: 'bash', code: '' }, { argv: ['id'] }],
      inputs: { data: 'x' },
      env: { A: '1' },
      publish: 'x',
      priority: 6,
      image: 'node',
      retry: { on: ['failed' as const], max: 1 },
      limits: { timeoutSeconds: 11, outputBytes: 1, outputFiles: 1 },
    };
    const paths = refused(empty, more).map((reason) => String(reason.split(':')[0]));
    assert.deepEqual(paths.toSorted(), [
      'blocks[0].language',
      'blocks[1].argv',
      'env.A',
      'image',
      'inputs',
      'limits.outputBytes',
      'limits.outputFiles',
      'limits.timeoutSeconds',
      'priority',
      'publish',
      'retry.max',
    ]);
  });
});

describe('the retention of a policy', () => {
  const retention = { mode: 'governance', days: 30 } as const;

  test('is none unless it is asked for, and then the policy has the digest that it had before there were retentions', () => {
    for (const said of [{}, { retention: {} }, { retention: { mode: 'none' } }])
      assert.equal(policyDigest(policyOf(said)), policyDigest(policyOf({})));
    assert.ok(!('retention' in policyOf({})));
  });

  test('is pinned with the policy, and another one is another policy', () => {
    assert.deepEqual(policyOf({ retention }).retention, retention);
    assert.notEqual(
      policyDigest(policyOf({ retention })),
      policyDigest(policyOf({ retention: { ...retention, days: 31 } })),
    );
  });

  test('of a base can be taken back or changed in part', () => {
    const merged = (more: object) => {
      const resolved = resolvePolicy('tried', mergePolicies({ retention }, { retention: more }), builtHere);
      assert.ok('policy' in resolved);
      return resolved.policy.retention;
    };
    assert.equal(merged({ mode: 'none' }), undefined);
    assert.deepEqual(merged({ mode: 'compliance' }), { mode: 'compliance', days: 30 });
  });

  test('says what happens when its days are over, and keeps what a run left unless it says erase', () => {
    assert.deepEqual(policyOf({ retention: { ...retention, after: 'erase' } }).retention, {
      ...retention,
      after: 'erase',
    });
    assert.deepEqual(policyOf({ retention: { ...retention, after: 'keep' } }).retention, retention);
    for (const said of [{ after: 'erase' }, { after: 'erase', mode: 'none' }])
      assert.match(problems({ retention: said }).join(), /retention\.after: needs a mode and days/);
    assert.match(problems({ retention: { ...retention, after: 'remove' } }).join(), /must be keep or erase/);
  });

  test('has a run erased so many days after it ended, and never without after: erase', () => {
    const ended = '2026-11-01T00:00:00.000Z';
    assert.equal(erasableSince({ ...retention, after: 'erase' }, ended)?.toISOString(), '2026-12-01T00:00:00.000Z');
    assert.equal(erasableSince(retention, ended), undefined);
    assert.equal(erasableSince(undefined, ended), undefined);
  });

  test('names both its mode and its days', () => {
    assert.match(
      problems({ retention: { days: 30 } }).join(),
      /retention\.mode: is missing\. Write governance or compliance/,
    );
    assert.match(problems({ retention: { mode: 'compliance' } }).join(), /retention\.days: is missing/);
    for (const days of [0, 36_501, 1.5])
      assert.match(problems({ retention: { mode: 'compliance', days } }).join(), /retention\.days/);
    assert.match(
      problems({ retention: { mode: 'forever', days: 1 } }).join(),
      /must be none, governance or compliance/,
    );
  });
});

describe('a policy cannot say', () => {
  for (const field of ['tenants', 'concurrency', 'gpus', 'approval'])
    test(`${field}, which nothing enforces yet`, () => {
      assert.match(
        problems({ [field]: field === 'approval' ? { count: 1, by: ['admin'] } : 1 }).join(),
        /Not supported yet/,
      );
    });

  test('approval, unless it is the one called reviewed, which then refuses every run', () => {
    const reviewed = policyOf({ approval: { count: 1, by: ['admin'] } }, 'reviewed');
    assert.match(refused(reviewed).join(), /^policy: approval_unavailable/);
  });

  test('any network but none', () => {
    assert.deepEqual(problems({ network: 'bridge' }), ['network: must be none: a cell has no network']);
    assert.equal(policyOf({ network: 'none' }).network, 'none');
  });

  for (const field of ['user', 'privileged', 'capabilities', 'volumes', 'binds', 'devices', 'dns', 'seccomp'])
    test(`${field}`, () =>
      assert.match(problems({ [field]: 'x' }).join(), new RegExp(`^${field}: .*Remove this line\\.$`)));

  test('a key that is near another one without being told which', () => {
    assert.deepEqual(problems({ langauges: ['python'] }), [
      'langauges: Unknown field "langauges". Did you mean "languages"?',
    ]);
    assert.deepEqual(problems({ limits: { timeoutSecond: 3 } }), [
      'limits.timeoutSecond: Unknown field "timeoutSecond". Did you mean "timeoutSeconds"?',
    ]);
    assert.deepEqual(problems({ limits: { pids: { maks: 3 } } }), [
      'limits.pids.maks: Unknown field "maks". Did you mean "max"?',
    ]);
  });

  test('variables that change which code is run', () => {
    for (const name of ['LD_PRELOAD', 'LD_*', 'NODE_OPTIONS', 'PYTHONPATH', 'PATH', 'BASH_ENV', 'HOTCELL_INPUTS'])
      assert.match(problems({ env: { job: [name] } }).join(), /No policy can let this variable through/);
  });

  test('more than the hard ceiling', () => {
    assert.match(problems({ limits: { openFiles: 20_000 } }).join(), /limits.openFiles.*must be at most 16384/);
    assert.match(problems({ limits: { memoryBytes: '2TiB' } }).join(), /must be at most 1 TiB/);
    assert.match(problems({ limits: { memoryBytes: 1 } }).join(), /must be at least 32 MiB/);
    assert.match(problems({ inputs: { count: 65 } }).join(), /must be at most 64/);
  });

  test('a default outside of its own range', () => {
    const said = { limits: { pids: { default: 100, max: 50 } }, priority: { min: 6, default: 5, max: 9 } };
    assert.equal(problems(said).filter((problem) => problem.includes('must be between')).length, 2);
  });

  test('images that are not built, images of services, and unknown languages', () => {
    assert.match(
      problems({ images: ['pyton'] }).join(),
      /no image "pyton"\. Did you mean "python"\? Built: .*Build it, or remove it here/,
    );
    assert.match(problems({ images: ['store'] }).join(), /no image "store"/);
    assert.match(problems({ languages: ['pythn'] }).join(), /Unknown language "pythn"\. Did you mean "python"\?/);
    const own = { name: 'lua', aliases: ['bash'], command: ['lua', '{file}'], ending: '.lua' };
    assert.match(
      problems({ languages: ['bash', own] }).join(),
      /languages\[1\]: "bash" already names another language/,
    );
  });
});

describe('a policy', () => {
  test('is named by what it says, however it is written', () => {
    const short = policyOf({ limits: { pids: 64, memoryBytes: '1GiB' } });
    const long = policyOf({
      limits: { memoryBytes: { max: 1024 ** 3, default: '1024 MiB' }, pids: { max: 64, default: 64 } },
    });
    assert.equal(policyDigest(short), policyDigest(long));
    assert.notEqual(policyDigest(short), policyDigest(policyOf({ limits: { pids: 65 } })));
  });

  test('pins the digests of its images and the profiles of its runtime', () => {
    const { images, seccomp } = policyOf({ images: ['node', 'python'], runtime: 'gvisor' });
    assert.deepEqual(
      images.map(({ name, digest }) => [name, digest]),
      [
        ['node', builtHere.images['node']?.digest],
        ['python', builtHere.images['python']?.digest],
      ],
    );
    assert.deepEqual(Object.keys(seccomp), ['gvisor-x86_64']);
  });

  test('can add a language of its own', () => {
    const lua = { name: 'lua', aliases: [], command: ['lua', '{file}'], ending: '.lua' };
    const policy = policyOf({ languages: ['python', lua] });
    assert.equal(admitted(policy, { blocks: [{ language: 'LUA', code: '' }] }).admitted, true);
  });

  test('is lowered to what the machine has only where it says so', () => {
    const said = {
      limits: { cpus: { default: 8, max: 8, fitMachine: true }, memoryBytes: { max: '8GiB', fitMachine: true } },
    };
    const parsed = parsePolicyFile('tried', said);
    assert.ok('policyFile' in parsed);
    const small = { ...builtHere, machine: { cpus: 2, memoryBytes: 4 * 1024 ** 3 } };
    const resolved = resolvePolicy('tried', parsed.policyFile, small);
    assert.ok('policy' in resolved);
    assert.equal(resolved.policy.limits.cpus.max, 2);
    assert.equal(resolved.policy.limits.cpus.default, 1, 'half of the machine');
    assert.equal(resolved.policy.limits.memoryBytes.max, 3 * 1024 ** 3);
    assert.equal(policyOf({ limits: { cpus: 8 } }).limits.cpus.max, 8);
  });

  test('lets a block have the time of the whole run, and a file all the room there is, where it is silent', () => {
    const { limits } = policyOf({ limits: { timeoutSeconds: { default: 5, max: 50 }, outputBytes: '1GiB' } });
    assert.deepEqual(limits.blockTimeoutSeconds, { min: 1, default: 50, max: 50 });
    assert.equal(limits.fileBytes.max, 1024 ** 3);
  });
});

describe('the queue of a policy', () => {
  test('is its runtime and the labels of the workers it asks for, in one order', () => {
    assert.equal(queueOf(policyOf({})), 'runc');
    assert.equal(
      queueOf(policyOf({ runtime: 'gvisor', worker: { labels: ['ssd', 'acme', 'ssd'] } })),
      'gvisor-acme-ssd',
    );
  });
});
