import { type Bed, openBed } from '../test/support/bed.ts';
import { openTestCells, runIn } from '../test/support/cells.ts';
import { jobOf, mib, plainContainer, runtimes, wide } from './support/cells.ts';
import { type Bench, median } from './support/row.ts';

const work = (rounds: number) => `
import time
begun = time.monotonic()
x = 0
for i in range(${rounds}): x = (x * 31 + i) % 1000003
print(time.monotonic() - begun)
`;
const attack = `
import os
print("begun", flush=True)
for _ in range(15):
    if os.fork() == 0: break
while True:
    with open("/tmp/x", "wb") as file: file.write(bytes(1 << 20))
`;

const quota = { CpuPeriod: 100_000, CpuQuota: 100_000, Memory: 256 * mib };

/** Both in plain containers of the engine, to measure what two cost each other on this machine. */
async function plain(bed: Bed, rounds: number): Promise<{ alone: number; beside: number }> {
  const start = async (code: string) => {
    const made = await plainContainer(bed, 'runc', ['python3', '-c', code], { HostConfig: quota });
    await made.start();
    return made;
  };
  const once = async () => {
    await using container = await start(work(rounds));
    let said = '';
    for await (const { bytes } of container.attached.output) said += bytes.toString();
    return Number(said) * 1000;
  };
  await once();
  const alone = await once();
  await using attacker = await start(attack);
  for await (const _ of attacker.attached.output) break;
  return { alone, beside: await once() };
}

/** The same work in a cell with one processor: alone, and beside a cell that uses all it can get. */
export async function bench({ row, target, quick }: Bench): Promise<void> {
  await using bed = await openBed();
  await using made = await openTestCells(bed, 'neighbour');
  const rounds = quick ? 3_000_000 : 20_000_000;
  const limits = { ...wide, cpus: 1, memoryBytes: 256 * mib, graceSeconds: 0 };
  for (const runtime of runtimes) {
    const plan = () => made.plan(runtime, { limits });
    const once = async () => {
      const job = jobOf({ language: 'python', code: work(rounds) });
      const seconds = Number((await runIn(made.cells, plan(), job)).logs[0]);
      if (!(seconds > 0)) throw new Error('the work was not done');
      return seconds * 1000;
    };
    const beside = async () => {
      const attacker = await made.cells.open(plan());
      const begun = Promise.withResolvers<void>();
      const ended = (async () => {
        for await (const event of attacker.run(jobOf({ language: 'python', code: attack })))
          if (event.type === 'log') begun.resolve();
      })();
      try {
        await begun.promise;
        return await once();
      } finally {
        attacker.kill('cancelled');
        await ended;
        await attacker.destroy();
      }
    };
    await once();
    const alone: number[] = [];
    const disturbed: number[] = [];
    for (let i = 0; i < (quick ? 1 : 7); i++) {
      alone.push(await once());
      disturbed.push(await beside());
    }
    const figures = { name: `neighbour/${runtime}`, value: median(disturbed), unit: 'ms', baseline: median(alone) };
    if (runtime === 'runc') target({ ...figures, target: 1.1 });
    else row(figures);
  }
  const { alone, beside } = await plain(bed, rounds);
  row({ name: 'neighbour/plain', value: beside, unit: 'ms', baseline: alone });
}
