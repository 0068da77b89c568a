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
    [/a cell has no network and none can be given; freeze the data/, ['network', 'extra_hosts', 'dns', 'ports']],
    [
      /nothing of a host is mounted into a cell; name snapshots under inputs/,
      ['volumes', 'extra_volumes', 'binds', 'work_dir', 'tmpfs'],
    ],
    [
      /its own unprivileged user and no capabilities/,
      ['user', 'privileged', 'cap_add', 'security_opt', 'sysctls', 'HostConfig'],
    ],
    [/is for the policy to say, not for a request/, ['runtime', 'gpus', 'device_requests', 'worker']],
    [
      /image build NAME --from python --requirements/,
      ['init_command', 'requirements', 'virtual_env_context', 'entrypoint'],
    ],
    [/is the operator’s setting/, ['s3Endpoint', 'endpoint', 'credentials', 'tenant']],
    [/used once and removed by itself/, ['auto_remove', 'stop_container']],
  ];
  for (const [says, keys] of instead)
    test(`that brings ${keys.join(', ')} from elsewhere is told what to do here`, () => {
      for (const key of keys) assert.match(withKey(key), says, key);
    });

  test('is told where a known word belongs', () => {
    assert.equal(withKey('timeout'), 'timeout: is limits.timeoutSeconds here');
    assert.equal(withKey('memoryBytes'), 'memoryBytes: stands under limits: limits.memoryBytes');
    assert.equal(withKey('environment'), 'environment: is env here');
    assert.deepEqual(reasons({ ...prints, limits: { memory: 5 } }), [
      'limits.memory: is limits.memoryBytes here, in bytes',
    ]);
  });

  test('is told which key was probably meant', () => {
    assert.equal(withKey('polcy'), 'polcy: is no field of this; did you mean policy?');
    assert.deepEqual(reasons({ blocks: [{ language: 'python', coed: 'x' }] }), [
      'blocks[0].code: is missing: give a string',
      'blocks[0].coed: is no field of this; did you mean code?',
    ]);
    assert.match(withKey('netwrok'), /if network was meant: that cannot be said here: a cell has no network/);
  });

  test('is told about the shape that a block or file was meant to have, not about all shapes', () => {
    assert.deepEqual(reasons({ blocks: [{ argv: ['id'], user: 'root' }] }), [
      'blocks[0].user: cannot be said here: every cell has its own unprivileged user and no capabilities; leave it out',
    ]);
    assert.deepEqual(reasons({ ...prints, files: [{ path: '../x', text: '' }] }), [
      'files[0].path: a file is named by a relative path without empty parts, . and ..',
    ]);
    assert.deepEqual(reasons({ blocks: ['print(1)'] }), [
      'blocks[0]: a block is { language, code, file? } or { argv: [...] }',
    ]);
  });

  test('with every mistake at once is told every one', () => {
    assert.equal(reasons({ blocks: [], network: 'x', user: 1, limits: { pids: -1 }, priority: 12 }).length, 5);
  });

  test('that is none is told what is missing', () => {
    assert.deepEqual(reasons({}), ['blocks: is missing: give a list']);
    assert.deepEqual(reasons(null), ['(whole): is null: give an object']);
    assert.deepEqual(reasons([]), ['(whole): is a list: give an object']);
  });

  test('with __proto__ in it changes nothing and nobody', () => {
    const body: unknown = JSON.parse('{"blocks":[{"language":"python","code":""}],"__proto__":{"policy":"analytics"}}');
    assert.match(reasons(body).join(), /^__proto__: is no field/);
    const inner = readRunRequest(
      JSON.parse('{"blocks":[{"language":"python","code":""}],"env":{"__proto__":"x"},"labels":{}}'),
    );
    assert.ok('request' in inner);
    assert.deepEqual(Object.keys(inner.request.env ?? {}), []);
    assert.equal(({} as { policy?: string }).policy, undefined);
  });

  test('nested deeper than anything sensible is refused before anybody recurses into it', () => {
    let params: unknown = 1;
    for (let i = 0; i < 200_000; i++) params = [params];
    assert.deepEqual(reasons({ ...prints, params }), ['(whole): is nested deeper than 64 levels: make it flatter']);
  });

  test('that is not valid is an error with all its reasons for whoever parses', () => {
    assert.throws(
      () => parseRunRequest({ ...prints, user: 'root' }),
      (error) => error instanceof HotcellError && error.code === 'invalid' && error.issues.length === 1,
    );
    assert.deepEqual(parseRunRequest(prints), prints);
  });
});
