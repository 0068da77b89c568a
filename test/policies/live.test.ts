import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { after, before, describe, test } from 'node:test';
import { z } from 'zod';
import { type Bed, openBed } from '../support/bed.ts';
import type { Child } from '../support/child.ts';
import { type House, openHouse } from '../support/house.ts';
import { type RunningProducer, startProducer } from '../support/producer.ts';
import { spawnWorker } from '../support/real-worker.ts';

let bed: Bed;
let house: House;
let producer: RunningProducer;
let worker: Child;
let folder: string;

before(async () => {
  bed = await openBed();
  house = await openHouse(bed);
  folder = await bed.folder('policy-live');
  producer = await startProducer(bed, house);
  worker = await spawnWorker(bed, house, 'live', { HOTCELL_QUEUES: 'runc,gvisor' });
});
after(async () => {
  await worker[Symbol.asyncDispose]();
  await producer[Symbol.asyncDispose]();
  await house.clearFinished();
  await house[Symbol.asyncDispose]();
  await bed[Symbol.asyncDispose]();
});

/** The command line with nothing but a URL and an API key. */
async function policy(...args: string[]): Promise<{ code: number; out: string; err: string }> {
  const child = spawn(process.execPath, ['clients/cli/cli-main.ts', 'policy', ...args], {
    cwd: resolve(import.meta.dirname, '../..'),
    env: {
      PATH: process.env['PATH'],
      HOTCELL_HOME: join(folder, 'nobody'),
      HOTCELL_URL: producer.url,
      HOTCELL_API_KEY: await producer.key('submitter'),
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [out, err] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  return { code: child.exitCode ?? -1, out, err };
}

const Live = z.looseObject({
  live: z.looseObject({
    policy: z.string(),
    probe: z.string().nullable(),
    ok: z.boolean(),
    difference: z.string().nullable(),
  }),
});

describe('policy test --live', () => {
  for (const name of ['sealed', 'hostile-gvisor'])
    test(`finds that real cells under ${name} are what the policy says`, async () => {
      const { code, out, err } = await policy('test', name, '--live', '--json');
      const rows = out
        .trimEnd()
        .split('\n')
        .flatMap((line) => {
          const row = Live.safeParse(JSON.parse(line));
          return row.success ? [row.data.live] : [];
        });
      assert.deepEqual(
        rows.filter(({ ok }) => !ok),
        [],
        err,
      );
      assert.equal(code, 0, err);
      assert.deepEqual(rows.map(({ probe }) => String(probe)).toSorted(), [
        'env',
        'forks',
        'inputs',
        'limits',
        'memory',
        'network',
        'outputs',
        'time',
        'writes',
      ]);
    });
});

describe('the policies of an installation, from the command line', () => {
  test('are listed, shown, and compared', async () => {
    const listed = await policy('ls', '--json');
    assert.equal(listed.code, 0, listed.err);
    const digests = new Map(
      listed.out
        .trimEnd()
        .split('\n')
        .map((line) => {
          const { name, digest } = z.looseObject({ name: z.string(), digest: z.string() }).parse(JSON.parse(line));
          return [name, digest];
        }),
    );
    assert.deepEqual([...digests.keys()], ['analytics', 'hostile-gvisor', 'node', 'sealed']);
    const shown = await policy('show', 'sealed');
    assert.ok(shown.out.startsWith(`# sealed ${digests.get('sealed')}\n`));
    assert.match(shown.out, /^network: none$/m);
    const same = await policy('diff', 'sealed', digests.get('sealed') ?? '');
    assert.equal(same.out, 'no differences\n');
    const differ = await policy('diff', 'sealed', 'analytics');
    assert.match(differ.out, /^limits\.timeoutSeconds\.max +600 +4800$/m);
    assert.equal((await policy('show', 'nope')).code, 1);
  });

  test('explain a run: what it asked for, what it got, and why', async () => {
    const answer = await producer.ask('POST', '/v1/runs', {
      body: JSON.stringify({ blocks: [{ language: 'python', code: 'print(1)' }], limits: { timeoutSeconds: 77 } }),
      headers: { prefer: 'wait=120' },
    });
    const { run } = z.looseObject({ run: z.string() }).parse(await answer.json());
    const { out, code, err } = await policy('explain', run);
    assert.equal(code, 0, err);
    assert.match(out, /^verdict +admitted$/m);
    assert.match(out, /^timeoutSeconds +77 s +77 s +60 s +1 s +600 s$/m);
    assert.match(out, /^memoryBytes +512 MiB +- +512 MiB +64 MiB +1 GiB$/m);
  });

  test('tell which past runs an edited policy would refuse', async () => {
    const since = new Date(Date.now() - 3600_000).toISOString();
    const [stricter, same] = [join(folder, 'strict', 'sealed.yaml'), join(folder, 'same', 'sealed.yaml')];
    const { mkdir, writeFile, readFile } = await import('node:fs/promises');
    const shipped = await readFile(resolve(import.meta.dirname, '../../policies/sealed.yaml'), 'utf8');
    for (const file of [stricter, same]) await mkdir(resolve(file, '..'));
    await writeFile(same, shipped);
    await writeFile(
      stricter,
      shipped.replace('timeoutSeconds: { default: 60, max: 600 }', 'timeoutSeconds: { default: 30, max: 70 }'),
    );
    const Tried = z.looseObject({
      past: z.looseObject({
        looked: z.number(),
        refused: z.array(z.looseObject({ reasons: z.array(z.looseObject({ path: z.string() })) })),
      }),
    });
    const now = Tried.parse(JSON.parse((await policy('try', same, '--since', since, '--json')).out));
    assert.ok(now.past.looked >= 1);
    assert.deepEqual(now.past.refused, []);
    const then = Tried.parse(JSON.parse((await policy('try', stricter, '--since', since, '--json')).out));
    assert.equal(then.past.looked, now.past.looked);
    assert.deepEqual(
      then.past.refused.map(({ reasons }) => reasons.map(({ path }) => path)),
      [['limits.timeoutSeconds']],
    );
  });

  test('cannot be revoked without the right to', async () => {
    const { code, err } = await policy('revoke', `sha256:${'0'.repeat(64)}`, '--reason', 'x');
    assert.equal(code, 4, err);
    // The role is judged before the address: this one names no digest either.
    assert.equal((await policy('revoke', 'sealed', '--reason', 'x')).code, 4);
    assert.equal((await policy('revoke', 'sealed')).code, 2);
  });
});
