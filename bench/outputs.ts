import { randomBytes } from 'node:crypto';
import { ContentSink } from '@hotcell/executor-worker/outputs/content.ts';
import { OutputCollector } from '@hotcell/executor-worker/outputs/collect.ts';
import { demux } from '@hotcell/outside/demux.ts';
import type { Store } from '@hotcell/outside/store.ts';
import Docker from 'dockerode';
import { newRunId } from '@hotcell/contract/names.ts';
import { type Bed, engineSocket, openBed } from '../test/support/bed.ts';
import { openTestCells, type TestCells } from '../test/support/cells.ts';
import { jobOf, mib, plainContainer, took, wide } from './support/cells.ts';
import { peakMemory } from './support/memory.ts';
import type { Bench } from './support/row.ts';

/** Outputs from cell to bucket: a few large ones beside `docker exec cat`, and many small ones beside their puts alone. */
export async function bench({ target, quick }: Bench): Promise<void> {
  await using bed = await openBed();
  await using made = await openTestCells(bed, 'outputs');
  const store = bed.store('worker');
  const each = (quick ? 32 : 256) * mib;
  const write = (folder: string) =>
    `import os\nfor n in range(4):\n    with open("${folder}/%d" % n, "wb") as f:\n        for _ in range(${each / mib}): f.write(os.urandom(1 << 20))\n`;

  let ours = 0;
  const { peak } = await peakMemory(async () => {
    ours = await collected(bed, made, store, write('/outputs'), 4);
  });
  const theirs = await byExec(bed, store, write('/dev/shm'), each);
  const perSecond = (ms: number) => (each * 4) / mib / (ms / 1000);
  target({
    name: 'outputs/large',
    value: perSecond(ours),
    unit: 'MiB/s',
    baseline: perSecond(theirs),
    target: 0.7,
    atLeast: true,
  });
  target({ name: 'outputs/large-memory', value: peak / mib, unit: 'MiB', target: 150 });

  const count = quick ? 1000 : 20_000;
  const many = `import os\nfor n in range(${count}): open("/outputs/%d" % n, "wb").write(os.urandom(4096))`;
  const sink = new ContentSink(store, bed.tenant(), newRunId());
  const puts = await took(async () => {
    for (let n = 0; n < count; n++) await sink.put(4096, one(randomBytes(4096)));
    await sink.settled();
  });
  const small = await collected(bed, made, store, many, count);
  target({ name: 'outputs/small', value: small, unit: 'ms', baseline: puts, target: 1.3 });
}

async function* one(bytes: Buffer): AsyncGenerator<Buffer> {
  yield bytes;
}

/** From the end of the program until all that it left is in the store. */
async function collected(bed: Bed, made: TestCells, store: Store, code: string, count: number): Promise<number> {
  const cell = await made.cells.open(made.plan('runc', { limits: wide }));
  try {
    const collector = new OutputCollector(store, bed.tenant(), newRunId(), wide);
    let since = 0;
    for await (const event of cell.run(jobOf({ language: 'python', code }))) {
      if (event.type === 'block_ended') since = performance.now();
      if (event.type === 'output') await collector.take(event.path, event.size, event.data);
    }
    const { files } = await collector.finish();
    if (files.length !== count) throw new Error(`${files.length} of ${count} outputs came`);
    return performance.now() - since;
  } finally {
    await cell.destroy();
  }
}

async function byExec(bed: Bed, store: Store, code: string, each: number): Promise<number> {
  const docker = new Docker({ socketPath: engineSocket });
  await using container = await plainContainer(
    bed,
    'runc',
    ['python3', '-c', `${code}\nprint("ready", flush=True)\nimport time\ntime.sleep(100000)`],
    { HostConfig: { ShmSize: 1200 * mib } },
  );
  await container.start();
  for await (const _ of container.attached.output) break;
  const sink = new ContentSink(store, bed.tenant(), newRunId());
  return await took(async () => {
    for (let n = 0; n < 4; n++) {
      const exec = await docker.getContainer(container.id).exec({ Cmd: ['cat', `/dev/shm/${n}`], AttachStdout: true });
      await sink.put(each, bytesOf(demux(await exec.start({}))));
    }
    await sink.settled();
  });
}

async function* bytesOf(pieces: AsyncIterable<{ bytes: Buffer }>): AsyncGenerator<Buffer> {
  for await (const { bytes } of pieces) yield bytes;
}
