import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdir, readFile, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { sha256 } from '@hotcell/contract/digest.ts';
import { Result } from '@hotcell/contract/result.ts';
import type { CommandWorld } from './command-world.ts';

/** Commands that take up a run again. */
export function testHandles(world: () => CommandWorld): void {
  test('submit, wait, show, logs, ls, get and rerun agree with each other', async () => {
    const { cli, submitted } = world();
    const run = await submitted(
      'open("/outputs/x.txt", "w").write("x"); print("said"); raise SystemExit(3)',
      '--label',
      'story=one',
      '--name',
      'nightly',
    );
    assert.equal((await cli.run(['wait', run.slice(-12)])).code, 3);
    assert.equal((await cli.run(['wait', '@last'])).code, 3);
    assert.match((await cli.run(['show', '@last~400'])).stderr, /names no run/);
    assert.match(
      (await cli.run(['ls', '--label', 'name=nightly'])).stdout,
      new RegExp(`^${run}  nightly  failed `, 'm'),
    );
    const shown = await cli.run(['show', run, '--json']);
    const result = Result.parse(shown.rows[0]);
    assert.deepEqual([result.outcome, result.exitCode], ['failed', 3]);
    const written = { stdout: 'said\n', stderr: '', truncated: false };
    assert.deepEqual((await cli.run(['wait', run, '--json'])).rows, [{ ...shown.rows[0], ...written }]);
    assert.equal((await cli.run(['logs', run])).stdout, 'said\n');
    assert.match(
      (await cli.run(['show', run, '--code'])).stdout,
      /^==> block 0, python <==\nopen\(.*; raise SystemExit\(3\)\n$/,
    );
    assert.equal((await cli.run(['get', run, 'x.txt'])).stdout, 'x');
    assert.match((await cli.run(['get', run])).stdout, new RegExp(`x\\.txt +1 +${sha256('x')}`));
    const listed = await cli.run(['ls', '--json', '--label', 'story=one', '--status', 'failed', '--since', '1d']);
    assert.deepEqual(
      listed.rows.map((row) => [row['run'], row['reason']]),
      [[run, result.reason]],
    );
    const again = (await cli.run(['rerun', run])).stdout.trim();
    assert.equal((await cli.run(['wait', again])).code, 3);
    const repeated = Result.parse((await cli.run(['show', again, '--json'])).rows[0]);
    assert.deepEqual(repeated.labels, { story: 'one', name: 'nightly', 'rerun-of': run });
    assert.deepEqual(repeated.outputs, result.outputs);
  });

  test('cancel ends a running run, names who and why, and keeps its log', async () => {
    const { cli, submitted, producer } = world();
    const run = await submitted('import time; print("begun", flush=True); time.sleep(600)');
    for await (const event of (await producer.client()).runById(run).events()) if (event.type === 'log') break;
    assert.equal((await cli.run(['cancel', run, '--reason', 'enough'])).code, 0);
    assert.equal((await cli.run(['wait', run])).code, 130);
    assert.match(Result.parse((await cli.run(['show', run, '--json'])).rows[0]).reason, /enough/);
    assert.equal((await cli.run(['logs', run])).stdout, 'begun\n');
    assert.equal((await cli.run(['cancel', run])).code, 1);
  });

  test('Ctrl-C detaches from a run and says how to return; the run goes on', async () => {
    const { cli, producer } = world();
    const calling = cli.call(['run', '-e', 'import time; print("begun", flush=True); time.sleep(600)']);
    const { stdout } = calling.process;
    assert.ok(stdout);
    await once(stdout, 'data');
    calling.process.kill('SIGINT');
    const { code, stderr } = await calling.ended;
    assert.equal(code, 75);
    const [, run = ''] = /Detached; the run goes on: \.\/hotcell wait (\S+)\. /.exec(stderr) ?? [];
    assert.equal((await (await producer.client()).runById(run).show()).status, 'running');
    const following = cli.call(['logs', run, '-f']);
    assert.ok(following.process.stdout);
    await once(following.process.stdout, 'data');
    following.process.kill('SIGINT');
    const detached = await following.ended;
    assert.equal(detached.code, 75);
    assert.match(detached.stderr, /Detached; the run goes on/);
    assert.equal((await cli.run(['cancel', run])).code, 0);
    assert.equal((await cli.run(['wait', run])).code, 130);
  });

  test('get never writes outside its folder, whatever is in the way', async () => {
    const { cli, file, submitted, folder } = world();
    const run = await submitted(
      'import os; os.makedirs("/outputs/d"); [open(f"/outputs/{p}", "w").write("new") for p in ("f", "d/g")]',
    );
    assert.equal((await cli.run(['wait', run])).code, 0);
    const elsewhere = join(folder, 'elsewhere');
    await mkdir(elsewhere);
    const victim = await file('victim.txt', 'old');
    const links = join(folder, 'links');
    await mkdir(links);
    await symlink(victim, join(links, 'f'));
    assert.equal((await cli.run(['get', run, 'f', '-o', links])).code, 0);
    assert.equal(await readFile(victim, 'utf8'), 'old');
    assert.equal(await readFile(join(links, 'f'), 'utf8'), 'new');
    await symlink(elsewhere, join(links, 'd'));
    const refused = await cli.run(['get', run, '-o', links]);
    assert.equal(refused.code, 1);
    assert.match(refused.stderr, /is a link or a file, not a folder/);
    await assert.rejects(readFile(join(elsewhere, 'g')));
  });
}
