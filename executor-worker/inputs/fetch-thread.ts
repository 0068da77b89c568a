/** A thread that fetches contents: each message names a batch, and the answer says which files failed and why. */
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { Contents } from '@hotcell/record/contents.ts';
import { armCrashPoint } from '@hotcell/outside/process/crash.ts';
import { bigBytes, fetchContent } from './fetch.ts';
import { type Failure, failureOf } from './fetch-failure.ts';
import type { FromThread, ThreadSettings, ToThread, WantedFile } from './fetchers.ts';

/** Small files wait for answers; a big one keeps the connection, the core and the disk busy by itself. */
const atOnce = { small: 16, big: 3 };

/** One message's files, until the last of them is settled. */
interface Batch {
  tenant: string;
  files: readonly WantedFile[];
  stop: AbortController;
  left: number;
  failures: Failure[];
}

function serve(port: MessagePort, settings: ThreadSettings): void {
  armCrashPoint(settings.crashAt);
  const contents = new Contents(settings.contents, settings.contents.sources);
  const batches = new Map<number, Batch>();
  const queues = { small: [] as [number, number][], big: [] as [number, number][] };
  const busy = { small: 0, big: 0 };

  const fetchOne = async (id: number, index: number) => {
    const batch = batches.get(id);
    const wanted = batch?.files[index];
    if (!batch || !wanted) return;
    try {
      await fetchContent(contents, batch.tenant, wanted, batch.stop.signal);
    } catch (error) {
      batch.failures.push(failureOf(index, error));
      // One failure ends the batch: files that are done count, no other is begun.
      batch.stop.abort(error);
    }
    batch.left -= 1;
    if (batch.left > 0) return;
    batches.delete(id);
    port.postMessage({ id, failures: batch.failures } satisfies FromThread);
  };
  const work = async (kind: 'small' | 'big') => {
    busy[kind] += 1;
    for (let next = queues[kind].shift(); next; next = queues[kind].shift()) await fetchOne(...next);
    busy[kind] -= 1;
  };

  port.on('message', (asked: ToThread) => {
    if ('stop' in asked) {
      batches.get(asked.stop)?.stop.abort(new Error('no caller waits for it any more'));
      return;
    }
    const { id, tenant, files } = asked;
    batches.set(id, { tenant, files, stop: new AbortController(), left: files.length, failures: [] });
    for (const [index, { entry }] of files.entries()) queues[entry.size < bigBytes ? 'small' : 'big'].push([id, index]);
    for (const kind of ['small', 'big'] as const)
      while (busy[kind] < atOnce[kind] && queues[kind].length > 0) void work(kind);
  });
}

if (parentPort) serve(parentPort, workerData);
