/** What runs on a thread that fetches contents: it is told what, and says when each is there or why not. */
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { HotcellError, messageOf } from '@hotcell/contract/errors.ts';
import { Contents } from '@hotcell/outside/content.ts';
import { armCrashPoint } from '@hotcell/outside/crash.ts';
import { bigBytes, fetchContent } from './fetch.ts';
import type { Fetch, Fetched, ThreadSettings, ToThread } from './fetchers.ts';

/** Small ones wait for answers; big ones keep the connection, the core and the disk busy by themselves. */
const atOnce = { small: 16, big: 3 };

function serve(port: MessagePort, settings: ThreadSettings): void {
  armCrashPoint(settings.crashAt);
  const contents = new Contents(settings.contents, settings.contents.sources);
  const stops = new Map<number, AbortController>();
  const queues = { small: [] as Fetch[], big: [] as Fetch[] };
  const busy = { small: 0, big: 0 };
  let fetched: Fetched[] = [];

  const say = (one: Fetched) => {
    if (fetched.push(one) > 1) return;
    setImmediate(() => {
      port.postMessage(fetched);
      fetched = [];
    });
  };
  const work = async (kind: 'small' | 'big') => {
    busy[kind] += 1;
    for (let next = queues[kind].shift(); next; next = queues[kind].shift()) {
      const { id, tenant, entry, temporary } = next;
      try {
        await fetchContent(contents, tenant, entry, temporary, stops.get(id)?.signal);
        say({ id });
      } catch (error) {
        const code = error instanceof HotcellError ? error.code : undefined;
        say({ id, error: { code, message: messageOf(error) } });
      }
      stops.delete(id);
    }
    busy[kind] -= 1;
  };

  port.on('message', ({ fetch, stop }: ToThread) => {
    for (const one of fetch) {
      stops.set(one.id, new AbortController());
      queues[one.entry.size < bigBytes ? 'small' : 'big'].push(one);
    }
    for (const id of stop) stops.get(id)?.abort(new Error('nobody waits for it any more'));
    for (const kind of ['small', 'big'] as const)
      while (busy[kind] < Math.min(atOnce[kind], busy[kind] + queues[kind].length)) void work(kind);
  });
}

if (parentPort) serve(parentPort, workerData);
