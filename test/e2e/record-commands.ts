import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { cliWith } from './cli.ts';
import type { CommandWorld } from './command-world.ts';

/** What is read from the record, and what is said where there is nothing. */
export function testRecord(world: () => CommandWorld): void {
  test('a missing run or an invalid argument is one line on stderr and nothing on stdout', async () => {
    const { cli } = world();
    for (const [args, exit, about] of [
      [['show', 'no-such-run'], 1, /no-such-run/],
      [['logs', '019a9f3e-7c00-7000-8000-000000000000'], 1, /Run 019a9f3e-\S+ not found/],
      [['wait', 'nope'], 1, /nope/],
      [['ls', '--since', 'yesterday'], 1, /--since yesterday/],
      [['ls', '--status', 'odd'], 2, /odd/],
      [['run'], 2, /Nothing to run/],
      [['run', 'missing.py'], 2, /missing\.py/],
      [['run', '-e', '1', '--timeout', 'soon'], 2, /soon/],
      [['apikey', 'ls'], 4, /admin/],
      [['workers', 'ls'], 4, /admin/],
      [['get'], 2, /run/],
      [['run', '-e', '1', '--out', import.meta.filename], 2, /record-commands\.ts is a file\. Name a folder/],
      [['verify', 'no-such-run', '--offline', import.meta.dirname], 1, /No root is trusted here/],
    ] as const) {
      const { code, stdout, stderr } = await cli.run(args);
      assert.deepEqual([code, stdout], [exit, ''], `${args.join(' ')}: ${stderr}`);
      assert.match(stderr, about);
    }
  });

  test('a run that prints leaves at most 20 KB in the record, evidence included', async () => {
    const { cli, house } = world();
    const sizes = async () => {
      const found = new Map<string, number>();
      for await (const { key, size } of house.store.list(house.store.record, '')) found.set(key, size);
      return found;
    };
    // What runs share, such as the policy and the form of the posture, is there after the first.
    await cli.run(['run', '--quiet', '-e', 'print(1)']);
    const before = await sizes();
    const { code } = await cli.run(['run', '--quiet', '-e', 'print(1)']);
    assert.equal(code, 0);
    const left = [...(await sizes())].filter(([key]) => !before.has(key));
    const files = left.map(([key]) => key.slice(key.lastIndexOf('/') + 1)).toSorted();
    assert.deepEqual(files, ['evidence.sigstore.json', 'log.ndjson.zst', 'result.json', 'spec.json']);
    const bytes = left.reduce((sum, [, size]) => sum + size, 0);
    assert.ok(bytes <= 20_000, `${bytes} bytes: ${JSON.stringify(left)}`);
  });

  test('rebuild restores the lists from the buckets', async () => {
    const { cli, submitted, folder, producer } = world();
    const run = await submitted('print(1)', '--label', 'rebuilt=yes');
    assert.equal((await cli.run(['wait', run])).code, 0);
    const operator = cliWith({
      HOTCELL_HOME: folder,
      HOTCELL_URL: producer.url,
      HOTCELL_API_KEY: await producer.key('admin', 'default'),
    });
    const { code, rows } = await operator.run(['rebuild', '--json']);
    assert.equal(code, 0);
    assert.ok(Number(rows[0]?.['runs']) > 0);
    const listed = await cli.run(['ls', '--json', '--label', 'rebuilt=yes']);
    assert.deepEqual(
      listed.rows.map((row) => [row['run'], row['outcome']]),
      [[run, 'succeeded']],
    );
  });

  test('a report shows the tables that a run left, Parquet among them, which a cell reads for it', async () => {
    const { cli, folder, submitted } = world();
    const code =
      "import duckdb; duckdb.sql(\"COPY (SELECT 7 AS day, '<b>' AS word) TO '/outputs/t.parquet'\"); open('/outputs/bad.parquet', 'w').write('x')";
    const run = await submitted(code, '--policy', 'analytics');
    assert.equal((await cli.run(['wait', run])).code, 0);
    const page = join(folder, 'report.html');
    const { code: exit, stderr } = await cli.run(['report', run, '-o', page]);
    assert.equal(exit, 0, stderr);
    assert.match(stderr, /Run \S+ reads 2 tables/);
    const html = await readFile(page, 'utf8');
    assert.match(html, /<tr><th>day<\/th><th>word<\/th><\/tr><tr><td>7<\/td><td>&lt;b&gt;<\/td><\/tr>/);
    assert.match(html, /<h3>bad\.parquet .*?Not shown: not read: /);
    // The run that read for the report is not what a person means by the last one.
    assert.match((await cli.run(['show', '@last'])).stdout, new RegExp(`^run +${run}$`, 'm'));
  });
}
