import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { phoneHome, transform, wasSealed } from '@hotcell/cli/demo/demo-runs.ts';
import { Result } from '@hotcell/contract/result.ts';
import { cliWith } from './cli.ts';
import type { CommandWorld } from './command-world.ts';

/** What `run` shows, and how it exits. */
export function testRunning(world: () => CommandWorld): void {
  test('run keeps both streams apart, byte for byte, and exits with the program’s exit code', async () => {
    const { cli } = world();
    const code = 'import sys; sys.stdout.write("a\\x1b[31m\\x00é"); sys.stderr.write("b"); sys.exit(7)';
    const { code: exit, stdout, stderr } = await cli.run(['run', '--quiet', '-e', code]);
    assert.deepEqual([exit, stdout, stderr], [7, 'a\x1b[31m\x00é', 'b']);
  });

  test('run says which package the code lacks, and how to make an image that has it', async () => {
    const { cli } = world();
    const { code, stderr } = await cli.run(['run', '-e', 'import sklearn']);
    assert.equal(code, 1);
    assert.match(stderr, /lacks the Python module sklearn \(of the package scikit-learn\)/);
    assert.match(
      stderr,
      /\.\/hotcell image build NAME --requirements requirements\.txt \(with scikit-learn in that file\)/,
    );
  });

  test('run --json prints accepted first, then status and log in order, and the result last', async () => {
    const { cli } = world();
    const { code, rows } = await cli.run([
      'run',
      '--json',
      '-e',
      'import time; print("hi", flush=True); time.sleep(2)',
    ]);
    assert.equal(code, 0);
    assert.deepEqual([rows.at(0)?.['type'], rows.at(-1)?.['type']], ['accepted', 'result']);
    const result = Result.parse(rows.at(-1)?.['result']);
    assert.deepEqual([result.run, result.outcome], [rows[0]?.['run'], 'succeeded']);
    const text = rows.filter((row) => row['type'] === 'log').map((row) => row['text']);
    assert.equal(text.join(''), 'hi\n');
    const order = ['queued', 'staging', 'running', 'publishing', 'finished'];
    const statuses = rows.filter((row) => row['type'] === 'status').map((row) => String(row['status']));
    assert.ok(statuses.includes('running'), statuses.join());
    assert.deepEqual(
      statuses,
      statuses.toSorted((a, b) => order.indexOf(a) - order.indexOf(b)),
    );
  });

  test('a run combines several languages, files, parameters, inputs and outputs', async () => {
    const { cli, file, folder } = world();
    await file('sales/2026/q1.csv', 'a\n1\n2\n');
    const clean = await file(
      'clean.py',
      [
        '# filename: steps/clean.py',
        'import json, os',
        'rows = open("/inputs/sales/2026/q1.csv").read().split()[1:]',
        'factor = json.load(open("/inputs/params.json"))["factor"]',
        'os.makedirs("/outputs/by/day")',
        'open("/outputs/by/day/sum.txt", "w").write(str(sum(map(int, rows)) * factor))',
        'open("between.txt", "w").write(open("note.txt").read())',
      ].join('\n'),
    );
    const report = await file('report.sh', 'cat between.txt; cat steps/clean.py | head -n 1');
    const note = await file('note.txt', 'a note\n');
    const out = join(folder, 'results');
    const asked = [
      'run',
      clean,
      report,
      '--input',
      `sales=${join(folder, 'sales')}`,
      '--param',
      'factor=14',
      '--file',
      note,
    ];
    const { code, stdout, stderr } = await cli.run([...asked, '--quiet', '--policy', 'analytics', '--out', out]);
    assert.equal(code, 0, stderr);
    assert.equal(stdout, 'a note\n# filename: steps/clean.py\n');
    assert.equal(await readFile(join(out, 'by/day/sum.txt'), 'utf8'), '42');
  });

  test('JavaScript and TypeScript run under the policy node', async () => {
    const { cli, file } = world();
    const script = await file('sum.ts', 'const sum: number = [1, 2, 3].reduce((a, b) => a + b); console.log(sum);');
    const { code, stdout, stderr } = await cli.run(['run', script, '--policy', 'node']);
    assert.equal(stdout, '6\n', stderr);
    assert.equal(code, 0);
  });

  test('every outcome has its exit code', async () => {
    const { cli, folder, producer } = world();
    assert.equal((await cli.run(['run', '-e', 'import time; time.sleep(600)', '--timeout', '1'])).code, 124);
    assert.equal((await cli.run(['run', '--lang', 'bash', '-e', 'kill -SEGV $$'])).code, 128 + 11);
    const hungry = 'b = bytearray(900 * 2**20)\nfor i in range(0, len(b), 4096): b[i] = 1';
    assert.equal((await cli.run(['run', '-e', hungry, '--memory', '128m'])).code, 137);
    const refused = await cli.run(['run', '--json', '-e', '1', '--cpus', '999']);
    assert.equal(refused.code, 126);
    const last = refused.rows.at(-1);
    assert.equal(last?.['type'], 'result');
    assert.equal(Result.parse(last?.['result']).outcome, 'rejected');
    assert.equal((await cli.run(['run', '--nonsense'])).code, 2);
    assert.equal((await cli.run(['run', '-e', '1', '--url', 'http://127.0.0.1:9'])).code, 125);
    const stranger = cliWith({
      HOTCELL_HOME: folder,
      HOTCELL_URL: producer.url,
      HOTCELL_API_KEY: `hc_${'A'.repeat(43)}`,
    });
    assert.equal((await stranger.run(['run', '-e', '1'])).code, 4);
  });

  test('the demo makes its table and plot, and its second block finds the network sealed', async () => {
    const { producer } = world();
    const client = await producer.client();
    const shown = { note: () => {}, log: async () => {} };
    const made = await transform(client, shown);
    assert.equal(made.result.outcome, 'succeeded', made.errors);
    assert.deepEqual(
      made.result.outputs.files.map((output) => output.path),
      ['revenue.csv', 'revenue.png'],
    );
    const tried = await phoneHome(client, shown);
    assert.ok(wasSealed(tried), `${tried.result.reason}\n${tried.errors}`);
  });
}
