import assert from 'node:assert/strict';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { limitNames, limitTable } from '@hotcell/contract/limits.ts';
import { Policy } from '@hotcell/contract/policy.ts';
import { checkPolicies, testInstallation } from '@hotcell/policies/check/run-policy-tests.ts';
import { unsaid } from '@hotcell/policies/check/coverage.ts';
import { PolicyTest, readTests } from '@hotcell/policies/check/test-file.ts';
import { tryTest } from '@hotcell/policies/check/try-test.ts';
import { loadFolder } from '@hotcell/policies/load-policies.ts';
import { policySchemaText } from '@hotcell/policies/policy-schema.ts';
import { problemLine } from '@hotcell/policies/yaml.ts';

const shipped = join(import.meta.dirname, '../../../../policies');
const folders: string[] = [];
after(() => folders.forEach((folder) => rmSync(folder, { recursive: true })));

/** The shipped policies in a folder of their own, edited. */
function edited(file: string, from: string | RegExp, to: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'hotcell-policies-'));
  folders.push(folder);
  cpSync(shipped, folder, { recursive: true });
  const text = readFileSync(join(folder, file), 'utf8');
  const changed = text.replace(from, to);
  assert.notEqual(changed, text, `nothing was edited in ${file}`);
  writeFileSync(join(folder, file), changed);
  return folder;
}

function complaints(folder: string): string[] {
  const { reports, problems } = checkPolicies(folder);
  return [
    ...problems.map(problemLine),
    ...reports.flatMap(({ policy, failures, unsaid: left }) => [
      ...failures.map(({ test: name, difference }) => `${policy}: "${name}" ${difference}`),
      ...left.map((what) => `${policy}: ${what}`),
    ]),
  ];
}

describe('the warnings that a test expects', () => {
  const sealed = loadFolder(shipped, testInstallation(shipped)).policies.get('sealed')?.policy;
  const differences = (code: string, warnings: string[]) => {
    assert.ok(sealed);
    const one = { name: 'warns', admitted: true, warnings, request: { blocks: [{ language: 'python', code }] } };
    return tryTest(PolicyTest.parse(one), sealed).differences.join('\n');
  };
  const quiet = 'print(1)';
  const noisy = 'import requests';

  test('are the only ones', () => {
    assert.equal(differences(quiet, []), '');
    assert.match(differences(noisy, []), /^warns: .*network/);
  });
  test('are given', () => {
    assert.equal(differences(noisy, ['no network']), '');
    assert.match(differences(noisy, ['no network', 'metadata']), /^lacks the warning "metadata"; it warns: .*network/);
    assert.match(differences(quiet, ['no network']), /^lacks the warning "no network"$/);
  });
});

describe('the shipped policies', () => {
  test('are said whole by their tests', () => assert.deepEqual(complaints(shipped), []));

  test('have the numbers that they promise', () => {
    const { policies } = loadFolder(shipped, testInstallation(shipped));
    const of = (name: string) => policies.get(name)?.policy ?? assert.fail(name);
    const mib = 1024 ** 2;
    for (const name of ['sealed', 'hostile-gvisor']) {
      const { images, languages, limits, inputs, logs } = of(name);
      assert.deepEqual(
        images.map((image) => image.name),
        ['python'],
      );
      assert.deepEqual(
        languages.map((language) => language.name),
        ['python', 'bash', 'sh'],
      );
      assert.equal(inputs.bytes, 1024 * mib);
      assert.deepEqual(limits.timeoutSeconds, { min: 1, default: 60, max: 600 });
      assert.deepEqual(limits.memoryBytes, { min: 64 * mib, default: 512 * mib, max: 1024 * mib });
      assert.equal(limits.pids.max, 256);
      assert.equal(limits.outputBytes.max, 64 * mib);
      assert.equal(limits.outputFiles.max, 1000);
      assert.equal(limits.logBytes.max, 8 * mib);
      assert.equal(logs.pastLimit, 'truncate');
    }
    const [small, big] = [of('sealed'), of('analytics')];
    for (const name of [
      'timeoutSeconds',
      'memoryBytes',
      'cpus',
      'pids',
      'outputBytes',
      'outputFiles',
      'logBytes',
    ] as const) {
      assert.equal(big.limits[name].default, 8 * small.limits[name].default, name);
      assert.equal(big.limits[name].max, 8 * small.limits[name].max, name);
    }
    assert.equal(big.inputs.bytes, 8 * small.inputs.bytes);
    assert.equal(of('hostile-gvisor').runtime, 'gvisor');
    assert.equal(of('reviewed').approval?.count, 1);
  });

  test('say in a comment for whom they are', () => {
    for (const name of ['sealed', 'analytics', 'hostile-gvisor', 'node', 'reviewed'])
      assert.match(readFileSync(join(shipped, `${name}.yaml`), 'utf8'), /^# For [a-z]/m);
  });

  test('come with the schema that editors check them by, as it is generated', () => {
    const stored = readFileSync(join(shipped, 'policy.schema.json'), 'utf8');
    assert.equal(stored, policySchemaText(), 'node policies/policy-schema.ts > policies/policy.schema.json');
  });
});

/** Every way to let more through (or to change what no job can ask for) by one step. */
function* loosened(policy: Policy): Generator<[what: string, policy: Policy]> {
  for (const name of limitNames) {
    const step = name === 'cpus' ? 0.01 : 1;
    const rule = policy.limits[name];
    const change = (more: Partial<typeof rule>) => ({
      ...policy,
      limits: { ...policy.limits, [name]: { ...rule, ...more } },
    });
    if (rule.max + step <= limitTable[name].max) yield [`${name} up to one more`, change({ max: rule.max + step })];
    if (rule.min - step >= limitTable[name].min) yield [`${name} from one less`, change({ min: rule.min - step })];
    if (rule.default < rule.max) yield [`${name} by default one more`, change({ default: rule.default + step })];
    else if (rule.max > rule.min)
      yield [`${name} by default one less`, change({ default: Math.max(rule.min, rule.default - step) })];
  }
  const { inputs } = policy;
  for (const part of ['count', 'bytes', 'files'] as const)
    yield [`inputs.${part} one more`, { ...policy, inputs: { ...inputs, [part]: inputs[part] + 1 } }];
  const [language] = policy.languages;
  if (language)
    yield [
      'another language',
      { ...policy, languages: [...policy.languages, { ...language, name: 'perl', aliases: [] }] },
    ];
  const [image] = policy.images;
  if (image) yield ['another image', { ...policy, images: [...policy.images, { ...image, name: 'other' }] }];
  yield ['another runtime', { ...policy, runtime: policy.runtime === 'runc' ? 'gvisor' : 'runc' }];
  yield ['other workers', { ...policy, worker: { labels: ['elsewhere'] } }];
  yield ['argv', { ...policy, argv: !policy.argv }];
  yield ['another variable', { ...policy, env: { ...policy.env, job: [...policy.env.job, 'MORE'] } }];
  yield ['every variable', { ...policy, env: { ...policy.env, job: ['*'] } }];
  for (const pattern of policy.env.job.filter((one) => one.endsWith('_*')))
    yield [
      `more than ${pattern}`,
      {
        ...policy,
        env: { ...policy.env, job: policy.env.job.map((one) => (one === pattern ? one.replace('_*', '*') : one)) },
      },
    ];
  yield ['a variable of the image', { ...policy, env: { ...policy.env, image: ['MORE'] } }];
  yield ['another end of the logs', { ...policy, logs: { pastLimit: 'stop' } }];
  yield ['no screening', { ...policy, screening: false }];
  if (policy.outputs.publish.length === 0) yield ['publishing', { ...policy, outputs: { publish: ['*'] } }];
  if (policy.retries < 5) yield ['one more retry', { ...policy, retries: policy.retries + 1 }];
  if (policy.priority.max < 9)
    yield ['a higher priority', { ...policy, priority: { ...policy.priority, max: policy.priority.max + 1 } }];
  if (policy.priority.min > 0)
    yield ['a lower priority', { ...policy, priority: { ...policy.priority, min: policy.priority.min - 1 } }];
}

describe('a policy that was edited to allow more than its tests say', () => {
  const { policies } = loadFolder(shipped, testInstallation(shipped));
  for (const name of ['sealed', 'analytics', 'hostile-gvisor', 'node'])
    test(`fails its tests, whatever was edited in ${name}`, () => {
      const file = join(shipped, 'tests', `${name}.yaml`);
      const read = readTests(readFileSync(file, 'utf8'), file);
      assert.ok('tests' in read);
      const { policy } = policies.get(name) ?? assert.fail(name);
      const survivors: string[] = [];
      let tried = 0;
      for (const [what, looser] of loosened(policy)) {
        const parsed = Policy.parse(looser);
        const results = read.tests.map((one) => tryTest(one, parsed));
        tried++;
        if (results.every(({ differences }) => differences.length === 0) && unsaid(parsed, results).length === 0)
          survivors.push(what);
      }
      assert.deepEqual(survivors, []);
      assert.ok(tried > 40);
    });

  test('or that lost its approval', () => {
    assert.ok(complaints(edited('reviewed.yaml', /approval:[\s\S]*$/, '')).some((one) => one.startsWith('reviewed: ')));
  });

  test('names the test that fails and the rule without a test', () => {
    const said = complaints(edited('sealed.yaml', 'max: 600', 'max: 601'));
    assert.ok(
      said.some((one) => one.includes('"everything one above its maximum" is not refused for limits.timeoutSeconds')),
      said.join('\n'),
    );
    assert.ok(
      said.includes('sealed: rule limits.timeoutSeconds.max: add a test that asks for 602 and is refused'),
      said.join('\n'),
    );
    const more = complaints(edited('sealed.yaml', '[python, bash, sh]', '[python, bash, sh, r]'));
    assert.deepEqual(
      more.filter((one) => one.startsWith('sealed: allows')),
      ['sealed: allows language r: add a test that asks for it'],
    );
  });
});

describe('tests of policies', () => {
  test('that are missing, invalid or for no policy are reported', () => {
    const stray = complaints(edited('tests/sealed.yaml', 'policy: sealed', 'policy: seeled'));
    assert.ok(stray.some((one) => /tests the policy seeled, which does not exist/.test(one)));
    assert.ok(stray.some((one) => /^sealed: No tests yet\. Create tests\/sealed\.yaml\.$/.test(one)));
    const typo = complaints(edited('tests/sealed.yaml', 'admitted: true', 'admited: true'));
    assert.ok(
      typo.some((one) =>
        /sealed\.yaml:\d+:\d+: tests\[\d+\]\.admited: Unknown field "admited"\. Did you mean "admitted"\?/.test(one),
      ),
      typo.join('\n'),
    );
  });

  test('must expect every reason of a refusal, and no other', () => {
    const fewer = complaints(edited('tests/sealed.yaml', '      limits.pids: at most 256\n', ''));
    assert.ok(fewer.some((one) => one.includes('is also refused, which the test does not expect: limits.pids')));
    const other = complaints(edited('tests/sealed.yaml', 'limits.pids: at most 256', 'limits.pids: at most 255'));
    assert.ok(other.some((one) => one.includes('is not refused for limits.pids: "at most 255"')));
  });

  test('can be run for some policies only', () => {
    assert.deepEqual(
      checkPolicies(shipped, ['sealed']).reports.map((report) => report.policy),
      ['sealed'],
    );
    const unknown = /^Policy not found: nope\. Policies here: analytics, .*sealed\.$/;
    assert.throws(() => checkPolicies(shipped, ['nope']), { code: 'not_found', message: unknown });
  });
});

test('a test’s inputs are one of no size, unless it says more', () => {
  const { inputs } = PolicyTest.parse({ name: 'x', inputs: {}, admitted: true });
  assert.deepEqual(inputs, { count: 1, bytes: 0, files: 0 });
});
