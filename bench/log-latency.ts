import { openBed } from '../test/support/bed.ts';
import { openHouse } from '../test/support/house.ts';
import { startProducer } from '../test/support/producer.ts';
import { spawnWorker } from '../test/support/real-worker.ts';
import { until } from '../test/support/until.ts';
import { type Bench, quantile } from './support/row.ts';

const policies = { runc: 'sealed', gvisor: 'hostile-gvisor' } as const;

/** From a write in a cell, through worker, Valkey and producer, to a client that follows the run. */
export async function bench({ target, quick }: Bench): Promise<void> {
  await using bed = await openBed();
  await using house = await openHouse(bed);
  await using producer = await startProducer(bed, house);
  await using worker = await spawnWorker(bed, house, 'one', { HOTCELL_QUEUES: 'runc,gvisor' });
  const client = await producer.client();
  const lines = quick ? 50 : 500;
  const code = `import time\nfor _ in range(${lines}):\n    print(time.time())\n    time.sleep(0.02)`;
  for (const [runtime, policy] of Object.entries(policies)) {
    const run = await client.submit({ policy, blocks: [{ language: 'python', code }] });
    const delays: number[] = [];
    let cut = '';
    for await (const row of run.logs()) {
      const now = Date.now();
      // A line and its newline may be two rows.
      const whole = (cut + (row.text ?? '')).split('\n');
      cut = whole.pop() ?? '';
      for (const stamp of whole) delays.push(now - Number(stamp) * 1000);
    }
    const { outcome, reason } = await run.result();
    if (outcome !== 'succeeded' || delays.length !== lines)
      throw new Error(`${delays.length} of ${lines} lines came: ${reason}`);
    for (const [name, q] of [
      ['p50', 0.5],
      ['p99', 0.99],
    ] as const)
      target({ name: `log-latency/${runtime}-${name}`, value: quantile(delays, q), unit: 'ms', target: 100 });
  }
  await worker.stop();
  await producer[Symbol.asyncDispose]();
  await house.clearFinished();
  await until('nothing waits any more', async () => (await house.producer.queues.of('runc').depth()) === 0);
}
