import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { parseRunRequest, readRunRequest } from '@hotcell/contract/read-request.ts';
import { HotcellError } from '@hotcell/contract/errors.ts';
import { prints } from '../../support/policies.ts';

function reasons(more: unknown): string[] {
  const read = readRunRequest(more);
  assert.ok('issues' in read, 'it was a request');
  return read.issues.map(({ path, message }) => `${path}: ${message}`);
}
const withKey = (key: string) => reasons({ ...prints, [key]: 'x' }).join();

describe('a request', () => {
  const instead: [says: RegExp, keys: string[]][] = [
    [/A cell has no network\. Freeze the data/, ['network', 'extra_hosts', 'dns', 'ports']],
    [
      /A cell mounts nothing of the host\. Name snapshots under inputs/,
      ['volumes', 'extra_volumes', 'binds', 'work_dir', 'tmpfs'],
    ],
    [
      /its own unprivileged user and no capabilities/,
      ['user', 'privileged', 'cap_add', 'security_opt', 'sysctls', 'HostConfig'],
    ],
    [/The policy decides this/, ['runtime', 'gpus', 'device_requests', 'worker']],
    [/Packages and setup are part of the image/, ['init_command', 'requirements', 'virtual_env_context', 'entrypoint']],
    [/The operator sets this/, ['s3Endpoint', 'endpoint', 'credentials', 'tenant']],
    [/used once and always removed/, ['auto_remove', 'stop_container']],
  ];
  for (const [says, keys] of instead)
    test(`with ${keys.join(', ')} of another executor is told what to do here`, () => {
      for (const key of keys) assert.match(withKey(key), says, key);
    });

  test('is told where a known word belongs', () => {
    assert.equal(withKey('timeout'), 'timeout: Use limits.timeoutSeconds.');
    assert.equal(withKey('memoryBytes'), 'memoryBytes: Put it under limits: limits.memoryBytes.');
    assert.equal(withKey('environment'), 'environment: Use env.');
    assert.deepEqual(reasons({ ...prints, limits: { memory: 5 } }), [
      'limits.memory: Use limits.memoryBytes, in bytes.',
    ]);
  });

  test('is told which field was probably meant', () => {
    assert.match(
      reasons({ blocks: [{ lang: 'python', code: '' }] }).join(),
      /Unknown field "lang"\. Did you mean "language"\?/,
    );
    assert.equal(withKey('polcy'), 'polcy: Unknown field "polcy". Did you mean "policy"?');
    assert.deepEqual(reasons({ blocks: [{ language: 'python', coed: 'x' }] }), [
      'blocks[0].code: is required: give a string',
      'blocks[0].coed: Unknown field "coed". Did you mean "code"?',
    ]);
    assert.match(withKey('netwrok'), /If you mean "network": A cell has no network/);
  });

  test('hears about the shape that a block or file was meant to have, not about all shapes', () => {
    assert.deepEqual(reasons({ blocks: [{ argv: ['id'], user: 'root' }] }), [
      'blocks[0].user: Every cell has its own unprivileged user and no capabilities. Remove this field.',
    ]);
    assert.deepEqual(reasons({ ...prints, files: [{ path: '../x', text: '' }] }), [
      'files[0].path: must be a relative path without empty, . or .. parts',
    ]);
    assert.deepEqual(reasons({ blocks: ['print(1)'] }), [
      'blocks[0]: must be { language, code, file? } or { argv: [...] }',
    ]);
  });

  test('hears about long code in MiB', () => {
    const [reason] = reasons({ blocks: [{ language: 'python', code: 'x'.repeat(4 * 1024 ** 2 + 1) }] });
    assert.equal(reason, 'blocks[0].code: Code is limited to 4 MiB. Pass data as an input.');
  });

  test('hears of params that are data how large they are, and where data goes', () => {
    const paramsOf = (bytes: number) => ({ ...prints, params: { text: 'ä'.repeat((bytes - 11) / 2) } });
    assert.deepEqual(reasons(paramsOf(1024 ** 2 + 1)), [
      'params: Params are limited to 1 MiB as JSON, and these take 1048577 bytes. Pass larger data as a file or an input.',
    ]);
    assert.ok('request' in readRunRequest(paramsOf(1024 ** 2 - 1)));
  });

  test('hears of a wrong value what would be right', () => {
    assert.deepEqual(
      reasons({ ...prints, priority: 12, limits: { pids: 0, cpus: 'two' }, retry: { on: ['lost'], max: 1 } }),
      [
        'limits.cpus: must be a number, not a string',
        'limits.pids: must be at least 1',
        'priority: must be at most 9',
        'retry.on[0]: must be failed or timed_out or out_of_memory',
      ],
    );
  });

  test('with several mistakes is told of every one', () => {
    assert.equal(reasons({ blocks: [], network: 'x', user: 1, limits: { pids: -1 }, priority: 12 }).length, 5);
  });

  test('without its parts is told what is required', () => {
    assert.deepEqual(reasons({}), ['blocks: is required: give a list']);
    assert.deepEqual(reasons(null), ['(whole): must be an object, not null']);
    assert.deepEqual(reasons([]), ['(whole): must be an object, not a list']);
  });

  test('with __proto__ in it changes nothing', () => {
    const body: unknown = JSON.parse('{"blocks":[{"language":"python","code":""}],"__proto__":{"policy":"analytics"}}');
    assert.match(reasons(body).join(), /^__proto__: Unknown field/);
    const inner = readRunRequest(
      JSON.parse('{"blocks":[{"language":"python","code":""}],"env":{"__proto__":"x"},"labels":{}}'),
    );
    assert.ok('request' in inner);
    assert.deepEqual(Object.keys(inner.request.env ?? {}), []);
    assert.equal(({} as { policy?: string }).policy, undefined);
  });

  test('nested deeper than 64 levels is refused before anything recurses into it', () => {
    let params: unknown = 1;
    for (let i = 0; i < 200_000; i++) params = [params];
    assert.deepEqual(reasons({ ...prints, params }), [
      '(whole): The request is nested deeper than 64 levels. Make it flatter.',
    ]);
  });

  test('that is invalid throws an error with all its reasons', () => {
    assert.throws(
      () => parseRunRequest({ ...prints, user: 'root' }),
      (error) => error instanceof HotcellError && error.code === 'invalid' && error.issues.length === 1,
    );
    assert.deepEqual(parseRunRequest(prints), prints);
  });
});

test('fifty unknown fields get a hint each, and the others are counted', () => {
  const unknown = (count: number) => ({
    ...prints,
    ...Object.fromEntries(Array.from({ length: count }, (_, i) => [`zz${i}`, 1])),
  });
  const all = reasons(unknown(50));
  assert.equal(all.length, 50);
  assert.ok(all.every((reason) => reason.includes('Unknown field')));
  const more = reasons(unknown(52));
  assert.equal(more.length, 51);
  assert.match(more.at(-1) ?? '', /2 more unknown fields/);
});

test('two hundred invalid fields are named, and the others are counted', () => {
  const files = (count: number) => reasons({ ...prints, files: Array.from({ length: count }, () => 1) });
  assert.equal(files(200).length, 200);
  assert.equal(files(203).length, 201);
  assert.match(files(203).at(-1) ?? '', /3 more fields are invalid/);
});
