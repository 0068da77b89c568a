import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { HotcellError } from '@hotcell/contract/errors.ts';
import { RunRequest } from '@hotcell/contract/spec.ts';
import { buildRequest } from '@hotcell/cli/build-request.ts';

let folder: string;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'hotcell-build-request-'));
});
after(() => rm(folder, { recursive: true }));

const never = async (path: string): Promise<string> => assert.fail(`${path} was frozen`);
const file = async (name: string, content: string | Buffer): Promise<string> => {
  const path = join(folder, name);
  await writeFile(path, content);
  return path;
};

test('each file is a block in its order, its language from its ending, and keeps its name', async () => {
  const files = [await file('clean.py', 'print(1)'), await file('report.sh', 'echo hi'), await file('x.js', '1')];
  const request = await buildRequest(files, {}, never);
  assert.deepEqual(request, {
    blocks: [
      { language: 'python', code: 'print(1)', file: 'clean.py' },
      { language: 'sh', code: 'echo hi', file: 'report.sh' },
      { language: 'javascript', code: '1', file: 'x.js' },
    ],
  });
});

test('a name that the code gives itself comes first', async () => {
  const path = await file('a.py', '# filename: main.py\nprint(1)');
  const request = await buildRequest([path], {}, never);
  assert.deepEqual(request.blocks, [{ language: 'python', code: '# filename: main.py\nprint(1)' }]);
});

test('everything that can be said on the command line arrives, as a request that the API takes', async () => {
  const data = await file('lookup.bin', Buffer.from([0xff, 0x00]));
  const request = await buildRequest(
    [],
    {
      eval: 'cat /inputs/a/x',
      lang: 'bash',
      policy: 'analytics',
      image: 'python',
      timeout: 30,
      memory: 512 * 1024 ** 2,
      cpus: 1.5,
      file: [data],
      param: [
        ['day', '2026-11-01'],
        ['n', '3'],
        ['deep', '{"a":[1]}'],
        ['zip', '01234'],
      ],
      env: [['MODE', 'fast=1']],
      label: [['team', 'finance']],
      input: [
        ['a', 'sha256:'.padEnd(71, '0')],
        ['b', 'daily-sales'],
        ['c', '019a9f3e-7c00-7000-8000-000000000000:outputs'],
        ['d', 's3://b/p'],
      ],
      priority: 3,
      publish: 'clean',
    },
    never,
  );
  assert.deepEqual(RunRequest.parse(request), request);
  assert.deepEqual(request, {
    blocks: [{ language: 'bash', code: 'cat /inputs/a/x' }],
    files: [{ path: 'lookup.bin', base64: '/wA=' }],
    params: { day: '2026-11-01', n: 3, deep: { a: [1] }, zip: '01234' },
    policy: 'analytics',
    image: 'python',
    inputs: {
      a: 'sha256:'.padEnd(71, '0'),
      b: 'daily-sales',
      c: '019a9f3e-7c00-7000-8000-000000000000:outputs',
      d: 's3://b/p',
    },
    limits: { timeoutSeconds: 30, memoryBytes: 512 * 1024 * 1024, cpus: 1.5 },
    env: { MODE: 'fast=1' },
    labels: { team: 'finance' },
    priority: 3,
    publish: 'clean',
  });
});

test('a folder or file of this machine becomes a snapshot first', async () => {
  await mkdir(join(folder, 'sales'));
  const frozen: string[] = [];
  const freeze = async (path: string) => {
    frozen.push(path);
    return `sha256:${String(frozen.length).padStart(64, '0')}`;
  };
  const sales = join(folder, 'sales');
  const request = await buildRequest([], { eval: '1', input: [['sales', sales]] }, freeze);
  assert.deepEqual(frozen, [sales]);
  assert.deepEqual(request.inputs, { sales: `sha256:${'1'.padStart(64, '0')}` });
});

test('what makes no sense is said before anything is sent', async () => {
  const wrong = async (files: string[], options: Parameters<typeof buildRequest>[1], about: RegExp) =>
    await assert.rejects(
      buildRequest(files, options, never),
      (error) => error instanceof HotcellError && error.code === 'invalid' && about.test(error.message),
    );
  await wrong([], {}, /Nothing to run/);
  await wrong(['a.py'], { eval: '1' }, /exclude/);
  await wrong([join(folder, 'missing.py')], {}, /^File not found: .*missing\.py$/);
  await wrong([folder], { lang: 'python' }, /is a folder\. To pass data, use --input /);
  await wrong([await file('nb.xyz', '1')], {}, /^Unknown file type \.xyz\. Name the language with --lang\.$/);
  await wrong([await file('bytes.py', Buffer.from([0xff]))], {}, /UTF-8/);
  await wrong([], { eval: '1', input: [['Sales', folder]] }, /--input Sales: must be a-z/);
  await wrong(
    [],
    {
      eval: '1',
      input: [
        ['a', 'x'],
        ['a', 'y'],
      ],
    },
    /twice/,
  );
});

test('an input that looks like a path is frozen; an id, an address, a run and a name are not', async () => {
  const frozen: string[] = [];
  const freeze = async (path: string) => {
    frozen.push(path);
    return 'frozen';
  };
  const paths = ['./missing', '~/data', '/data', 'data/2026', '..'];
  const others = [
    `sha256:${'0'.repeat(64)}`,
    's3://bucket/prefix/',
    '01890000-0000-7000-8000-000000000000:outputs',
    'sales',
  ];
  const input = [...paths, ...others].map((source, i): [string, string] => [`in${i}`, source]);
  const { inputs } = await buildRequest([], { eval: '1', input }, freeze);
  assert.deepEqual(frozen, paths);
  assert.deepEqual(Object.values(inputs ?? {}), [...paths.map(() => 'frozen'), ...others]);
});
