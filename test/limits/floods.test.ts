import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, suite, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { sha256 } from '@hotcell/contract/digest.ts';
import { languages } from '@hotcell/contract/languages.ts';
import { prepareJob } from '@hotcell/executor-worker/execute/job.ts';
import { Engine, type Inspected } from '@hotcell/outside/engine/engine.ts';
import { Buckets } from '@hotcell/record/buckets.ts';
import { type Bed, engineSocket, openBed } from '../support/bed.ts';
import { openSlowLink } from '../support/slow-link.ts';
import { held } from './support/hostile-runs.ts';
import { mib, openRuns, python, runtimes, type Runs, wrote } from './support/runs.ts';

let bed: Bed;
let runs: Runs;
const engine = new Engine(engineSocket);
before(async () => {
  bed = await openBed();
  runs = await openRuns(bed, 'floods', { dockerHost: engineSocket });
});
after(async () => {
  await runs?.[Symbol.asyncDispose]();
  await bed?.[Symbol.asyncDispose]();
});

const flooding = (bytes: number) => [{ argv: ['head', '-c', String(bytes), '/dev/zero'] }];

/** How much more memory this process held at most during `work` than before. */
async function growth(work: (look: () => Promise<void>) => Promise<unknown>): Promise<number> {
  const before = (await held()).bytes;
  let most = before;
  const look = async () => {
    most = Math.max(most, (await held()).bytes);
  };
  await work(look);
  await look();
  return most - before;
}

for (const runtime of runtimes)
  suite(`on ${runtime}`, () => {
    test('a flood of output is neither held in memory nor on disk, unlike with a naive reader (58)', async () => {
      const bytes = 128 * mib;
      let made: Promise<Inspected | undefined> = Promise.resolve(undefined);
      const grown = await growth(async (look) => {
        const ran = await runs.run(runtime, {
          blocks: flooding(bytes),
          beside: (cell) => {
            made = engine.inspect(cell.container);
          },
          onRows: () => void look(),
        });
        assert.deepEqual([ran.verdict.outcome, ran.logs.bytes], ['succeeded', bytes], ran.verdict.reason);
      });
      const bound = 32 * mib;
      assert.ok(grown < bound, `${grown} bytes more were held`);
      const seen = await made;
      assert.deepEqual([seen?.HostConfig.LogConfig?.Type, seen?.LogPath], ['none', '']);

      const naive = 48 * mib;
      const unbounded = runs.cells.plan(runtime, {
        log: { headBytes: 2 * naive, tailBytes: 0, pastLimit: 'truncate' },
      });
      const kept: Buffer[] = [];
      const grownNaive = await growth(async () => {
        const cell = await runs.cells.cells.open(unbounded);
        for await (const event of cell.run(prepareJob({ blocks: flooding(naive), files: [] }, languages)))
          if (event.type === 'log') kept.push(Buffer.from(event.bytes));
        await cell.destroy();
      });
      assert.ok(grownNaive > bound && kept.length > 0, `${grownNaive} bytes`);
    });

    test('a flood of small writes makes few rows without losing a byte; a naive reader makes one row each (59)', async () => {
      const writes = 100_000;
      const write = `for n in range(${writes}): os.write(1, b"x")`;
      const ran = await runs.run(runtime, { blocks: python(`import os\n${write}`) });
      assert.equal(ran.verdict.outcome, 'succeeded', ran.verdict.reason);
      assert.equal(wrote(ran).length, writes);
      // Init passes a burst on at once, then one read a millisecond, and one after each pause.
      const bound = 2000 + 1.5 * ran.usage.wallMs;
      assert.ok(ran.rows.length < bound, `${ran.rows.length} rows in ${ran.usage.wallMs} ms`);

      // The same flood to a naive reader, over a socket that keeps writes apart.
      const naive = `
import os, socket
reader, writer = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
if os.fork() == 0:
    reader.close()
    os.dup2(writer.fileno(), 1)
    ${write}
    os._exit(0)
writer.close()
rows = 0
while reader.recv(65536): rows += 1
print(rows)
`;
      const kept = await runs.run(runtime, { blocks: python(naive) });
      assert.equal(wrote(kept).toString(), `${writes}\n`, kept.verdict.reason);
      assert.ok(writes > bound);
    });

    test('a cell has no swap, unlike a container with only a memory limit (63)', async () => {
      const cell = await runs.cells.cells.open(runs.cells.plan(runtime));
      const weak = await engine.create(`hotcell-test-limits-${randomBytes(6).toString('hex')}`, {
        Image: bed.images.python.digest,
        Labels: { 'hotcell.managed': '1', 'hotcell.installation': bed.installation.id, 'hotcell.role': 'test' },
        HostConfig: { Memory: 64 * mib },
      });
      assert.ok(weak);
      try {
        const swapOf = async (container: string) => {
          const { Memory = 0, MemorySwap = 0 } = (await engine.inspect(container))?.HostConfig ?? {};
          return MemorySwap - Memory;
        };
        assert.equal(await swapOf(cell.container), 0);
        assert.equal(await swapOf(weak), 64 * mib);
      } finally {
        await engine.remove(weak);
        await cell.destroy();
      }
    });

    test('slow readers and a slow store get every byte of logs and outputs, only later', async () => {
      const { store } = bed.installation;
      await using link = await openSlowLink(store.endpoint, 4 * mib);
      using slow = new Buckets({ ...store, endpoint: link.url });
      // The program names the digests of what it wrote. The second runtime's outputs are already stored by the first.
      const code = `
import hashlib, random, sys
noise = random.Random(7).randbytes
log, out = noise(700_000), noise(3_000_000)
with open("/outputs/noise", "wb") as file: file.write(out)
for at in range(0, len(log), 7_000): sys.stdout.buffer.write(log[at:at + 7_000]); sys.stdout.flush()
print(hashlib.sha256(log).hexdigest(), hashlib.sha256(out).hexdigest(), file=sys.stderr)
`;
      const ran = await runs.run(runtime, { blocks: python(code), store: slow, onRows: () => pause(50) });
      assert.equal(ran.verdict.outcome, 'succeeded', ran.verdict.reason);
      const [said = '', written = Buffer.alloc(0)] = ['stderr', 'stdout'].map((stream) =>
        wrote({ rows: ran.rows.filter((row) => row.stream === stream) }),
      );
      const [log, out] = said.toString().trim().split(' ');
      assert.equal(sha256(written), `sha256:${log}`);
      assert.equal(ran.outputs.files[0]?.sha256, `sha256:${out}`);
    });
  });
