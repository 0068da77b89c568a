import { openTestCells } from '../test/support/cells.ts';
import { openBed } from '../test/support/bed.ts';
import { execute } from '@hotcell/executor-worker/execute/execute.ts';
import { openLog } from '@hotcell/outside/log.ts';
import { Live } from '@hotcell/outside/live.ts';
import { jobOf, runtimes, wide } from './support/cells.ts';
import { type Bench, quantile } from './support/row.ts';

/** From a write in the cell to the line at somebody who follows the run's log through Valkey. */
export async function bench({ target, quick }: Bench): Promise<void> {
  await using bed = await openBed();
  await using made = await openTestCells(bed, 'log-latency');
  const url = bed.installation.redisUrl;
  await using writer = await Live.open({ url, installation: bed.installation.id });
  await using reader = await Live.open({ url, installation: bed.installation.id });
  const store = bed.store('worker');
  const lines = quick ? 50 : 500;
  const code = `import time\nfor _ in range(${lines}):\n    print(time.time())\n    time.sleep(0.02)`;
  for (const runtime of runtimes) {
    const plan = made.plan(runtime, { limits: wide });
    const { run, attempt } = plan;
    const over = new AbortController();
    const delays: number[] = [];
    const following = (async () => {
      let seen = -1;
      for await (const _ of reader.logs.follow(run, { signal: over.signal }))
        for (const row of await reader.logs.read(run, attempt, seen)) {
          const now = Date.now();
          seen = row.seq;
          // A line and its end may be two rows.
          for (const [stamp] of (row.text ?? '').matchAll(/\d{10}\.\d+/g)) delays.push(now - Number(stamp) * 1000);
        }
    })();
    const cell = await made.cells.open(plan);
    try {
      await execute(cell, jobOf({ language: 'python', code }), {
        run,
        tenant: bed.tenant(),
        attempt,
        runtime,
        limits: wide,
        store,
        publishLog: (rows) => writer.logs.append(run, attempt, rows),
        stop: new AbortController().signal,
        log: openLog('bench', 'warn'),
      });
    } finally {
      await cell.destroy();
      over.abort();
    }
    await following;
    if (delays.length < lines / 2) throw new Error(`only ${delays.length} of ${lines} lines were seen`);
    for (const [name, q] of [
      ['p50', 0.5],
      ['p99', 0.99],
    ] as const)
      target({ name: `log-latency/${runtime}-${name}`, value: quantile(delays, q), unit: 'ms', target: 100 });
    const segments = await Array.fromAsync(store.list(store.work, `logs/${run}/`));
    await bed.store('operator').deleteMany(
      store.work,
      segments.map(({ key }) => key),
    );
  }
}
