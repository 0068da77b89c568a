import { randomBytes } from 'node:crypto';
import { ContentSink } from '@hotcell/record/output-content.ts';
import { demux } from '@hotcell/outside/engine/demux.ts';
import type { Buckets } from '@hotcell/record/buckets.ts';
import Docker from 'dockerode';
import { newRunId } from '@hotcell/contract/names.ts';
import { type Bed, engineSocket, openBed } from '../test/support/bed.ts';
import { mib, plainContainer, took } from './support/cells.ts';
import { inOwnProcess, type OwnProcess } from './support/own-process.ts';
import type { Bench } from './support/row.ts';
import { openOutputRoom } from '../test/support/output-room.ts';

/** Outputs from cell to bucket. Baselines: `docker exec cat` for a few large ones, the puts alone for many small ones. */
export async function bench({ target, quick }: Bench): Promise<void> {
  await using bed = await openBed();
  const store = bed.store('worker');
  const each = (quick ? 32 : 256) * mib;
  const write = (folder: string) =>
    `import os\nfor n in range(4):\n    with open("${folder}/%d" % n, "wb") as f:\n        for _ in range(${each / mib}): f.write(os.urandom(1 << 20))\n`;

  const { home } = bed.installation;
  const ours = await inOwnProcess<OwnProcess>('collect.process.ts', { home, code: write('/outputs'), count: 4 });
  const theirs = await byExec(bed, store, write('/dev/shm'), each);
  const perSecond = (ms: number) => (each * 4) / mib / (ms / 1000);
  target({
    name: 'outputs/large',
    value: perSecond(ours.ms),
    unit: 'MiB/s',
    baseline: perSecond(theirs),
    target: 0.7,
    atLeast: true,
  });
  target({ name: 'outputs/large-memory', value: ours.peakBytes / mib, unit: 'MiB', target: 150 });

  const count = quick ? 1000 : 20_000;
  const many = `import os\nfor n in range(${count}): open("/outputs/%d" % n, "wb").write(os.urandom(4096))`;
  const sink = new ContentSink({ store, tenant: bed.tenant(), run: newRunId(), attempt: 1, room: openOutputRoom() });
  const puts = await took(async () => {
    for (let n = 0; n < count; n++) await sink.put(4096, one(randomBytes(4096)));
    await sink.settled();
  });
  const small = await inOwnProcess<OwnProcess>('collect.process.ts', { home, code: many, count });
  target({ name: 'outputs/small', value: small.ms, unit: 'ms', baseline: puts, target: 1.3 });
}

async function* one(bytes: Buffer): AsyncGenerator<Buffer> {
  yield bytes;
}

async function byExec(bed: Bed, store: Buckets, code: string, each: number): Promise<number> {
  const docker = new Docker({ socketPath: engineSocket });
  await using container = await plainContainer(
    bed,
    'runc',
    ['python3', '-c', `${code}\nprint("ready", flush=True)\nimport time\ntime.sleep(100000)`],
    { HostConfig: { ShmSize: 1200 * mib } },
  );
  await container.start();
  for await (const _ of container.attached.output) break;
  const sink = new ContentSink({ store, tenant: bed.tenant(), run: newRunId(), attempt: 1, room: openOutputRoom() });
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
