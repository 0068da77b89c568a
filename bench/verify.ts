import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { exportSigner, putExecuted } from '../test/support/exported-run.ts';
import { listKeys, Memory, root } from '../test/support/signed-record.ts';
import { inOwnProcess, type OwnProcess } from './support/own-process.ts';
import { type Bench, median } from './support/row.ts';

const rounds = 3;

/** Verifying a copy of a record: each run with its spec, result, evidence, posture, log, input and outputs. */
export async function bench({ target, quick }: Bench): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'verify-'));
  try {
    const runs = quick ? 100 : 1000;
    const [whole, quarter] = [join(folder, 'whole'), join(folder, 'quarter')];
    for (let i = 0; i < runs; i++) {
      const record = new Memory();
      listKeys(record, exportSigner.listed);
      await putExecuted(record);
      for (const [key, bytes] of record) {
        await put(join(whole, key), bytes);
        if (i < runs / 4) await put(join(quarter, key), bytes);
      }
    }
    const perSecond = async (of: string, count: number) => {
      const figures: OwnProcess[] = [];
      for (let i = 0; i < rounds; i++)
        figures.push(await inOwnProcess<OwnProcess>('verify.process.ts', { folder: of, root: root.public.pem }));
      const peak = Math.max(...figures.map(({ peakBytes }) => peakBytes));
      return { value: median(figures.map(({ ms }) => count / (ms / 1000))), mib: peak / 2 ** 20 };
    };
    const [all, fourth] = [await perSecond(whole, runs), await perSecond(quarter, runs / 4)];
    target({ name: 'verify', value: all.value, unit: 'runs/s', target: 150, atLeast: true });
    target({ name: 'verify/memory', value: all.mib, unit: 'MiB', target: 200 });
    const linear = { value: all.value, baseline: fourth.value };
    target({ name: 'verify/linear', ...linear, unit: 'runs/s', target: 0.8, atLeast: true });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function put(path: string, bytes: Buffer): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, bytes);
}
