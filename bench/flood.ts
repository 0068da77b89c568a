import { openBed } from '../test/support/bed.ts';
import { openRuns } from '../test/limits/support/runs.ts';
import { mib, plainContainer, runtimes, took, wide } from './support/cells.ts';
import { peakMemory } from './support/memory.ts';
import type { Bench } from './support/row.ts';

/** A job that writes far more than its log limit. Baseline: the same bytes from an attached container, discarded. */
export async function bench({ target, quick }: Bench): Promise<void> {
  await using bed = await openBed();
  await using runs = await openRuns(bed, 'flood');
  const size = (quick ? 256 : 2048) * mib;
  const argv = ['head', '-c', String(size), '/dev/zero'];
  for (const runtime of runtimes) {
    const limits = { ...wide, memoryBytes: 512 * mib };
    const run = async () => {
      const ran = await runs.run(runtime, { blocks: [{ argv }], limits });
      if (ran.logs.bytes !== size) throw new Error(`${ran.logs.bytes} bytes were seen: ${ran.verdict.reason}`);
      return ran.usage.wallMs;
    };
    // The first runs grow this process by what any run needs.
    for (let i = 0; i < 4; i++) await run();
    let ours = 0;
    const { before, peak } = await peakMemory(async () => {
      ours = await run();
    });
    await using attached = await plainContainer(bed, runtime, argv);
    await attached.start();
    const theirs = await took(async () => {
      let seen = 0;
      for await (const { bytes } of attached.attached.output) seen += bytes.length;
      if (seen !== size) throw new Error(`${seen} bytes were seen`);
    });
    const perSecond = (ms: number) => size / mib / (ms / 1000);
    target({
      name: `flood/${runtime}`,
      value: perSecond(ours),
      unit: 'MiB/s',
      baseline: perSecond(theirs),
      target: 0.7,
      atLeast: true,
    });
    target({ name: `flood/${runtime}-memory`, value: (peak - before) / mib, unit: 'MiB', target: 32 });
  }
}
