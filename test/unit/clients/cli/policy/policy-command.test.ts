import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';

const root = join(import.meta.dirname, '../../../../..');
const folder = mkdtempSync(join(tmpdir(), 'hotcell-policy-command-'));
after(() => rmSync(folder, { recursive: true }));

/** The command line as a person calls it, with an installation that has nothing yet. */
function policy(args: string[], policies: string = join(root, 'policies')) {
  const { status, stdout, stderr } = spawnSync(process.execPath, ['clients/cli/cli-main.ts', 'policy', ...args], {
    cwd: root,
    encoding: 'utf8',
    env: { PATH: process.env['PATH'], HOTCELL_HOME: join(folder, 'home'), HOTCELL_POLICIES: policies },
  });
  return { status, stdout, stderr };
}

function write(name: string, text: string): string {
  const file = join(folder, name);
  writeFileSync(file, text);
  return file;
}

describe('policy test', () => {
  test('needs nothing that runs, and ends with 0 when every policy is said by its tests', () => {
    const { status, stdout, stderr } = policy(['test']);
    assert.equal(status, 0, stdout + stderr);
    assert.equal(stdout.match(/^ok /gm)?.length, 5);
  });

  test('ends with 1 when a policy allows more than its tests say, and names the rule', () => {
    const copy = join(folder, 'policies');
    cpSync(join(root, 'policies'), copy, { recursive: true });
    const file = join(copy, 'sealed.yaml');
    writeFileSync(file, readFileSync(file, 'utf8').replace('pids: 256', 'pids: 512'));
    const { status, stdout } = policy(['test'], copy);
    assert.equal(status, 1);
    assert.match(stdout, /^FAIL sealed: /m);
    assert.match(stdout, /rule limits\.pids\.max: add a test that asks for 513 and is refused/);
    const { status: again, stdout: lines } = policy(['test', 'sealed', '--json'], copy);
    assert.equal(again, 1);
    const [report] = lines
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as { policy: string; unsaid: string[] });
    assert.equal(report?.policy, 'sealed');
    assert.ok((report?.unsaid.length ?? 0) > 0);
  });
});

describe('policy try', () => {
  test('refuses a --since that is not a time, before it asks anyone', () => {
    const { status, stderr } = policy(['try', write('since.yaml', 'extends: sealed\n'), '--since', 'yesterday']);
    assert.notEqual(status, 0);
    assert.match(stderr, /--since.*yesterday.*2026-11-01T08:00:00Z/);
  });

  test('shows a file as it would be here, merged with what it extends', () => {
    const { status, stdout, stderr } = policy(['try', write('team.yaml', 'extends: sealed\nlimits: { pids: 99 }\n')]);
    assert.equal(status, 0, stderr);
    assert.match(stdout, /^# team sha256:[0-9a-f]{64}$/m);
    assert.match(stdout, /timeoutSeconds:\n\s+min: 1\n\s+default: 60\n\s+max: 600/);
  });

  test('exits with 1 for an invalid policy, with file, line and what to do', () => {
    const { status, stdout, stderr } = policy(['try', write('typo.yaml', 'extends: sealed\nlimit: { pids: 99 }\n')]);
    assert.equal(status, 1);
    assert.equal(stdout, '');
    assert.match(stderr, /typo\.yaml:2:1: limit: Unknown field "limit"\. Did you mean "limits"\?/);
  });

  test('exits with 1 for a missing file', () => {
    const { status, stderr } = policy(['try', join(folder, 'absent.yaml')]);
    assert.equal(status, 1);
    assert.match(stderr, /File not found: .*absent\.yaml/);
  });
});

test('policy diff lists the differences of two files', () => {
  const a = write('a.yaml', 'extends: sealed\n');
  const b = write('b.yaml', 'extends: sealed\nlimits: { pids: 99, memoryBytes: { max: 2GiB } }\n');
  const { status, stdout, stderr } = policy(['diff', a, b, '--json']);
  assert.equal(status, 0, stderr);
  const differences = stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as unknown);
  assert.deepEqual(differences, [
    { path: 'limits.memoryBytes.max', a: '1 GiB', b: '2 GiB' },
    { path: 'limits.pids.default', a: 256, b: 99 },
    { path: 'limits.pids.max', a: 256, b: 99 },
  ]);
});
