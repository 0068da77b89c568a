import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, fsync, openSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';

const fsyncOf = promisify(fsync);
/** So few are synced one by one: that is less work for the disk than everything that waits for it. */
const few = 16;
/** Between two syncs of the whole file system, for others to join the next; the longer a sync takes, the longer. */
const restMs = 100;
const restPerSync = 3;
const program = ['/usr/bin/sync', '/bin/sync'].find((path) => existsSync(path));

/**
 * Syncs many small files together. Each waits for a sync that began after it was written; they share the journal's
 * commit, which is the cost of a sync per file.
 */
export class GroupSync {
  readonly #folder: string;
  #waiting: { paths: readonly string[]; done: () => void; failed: (error: unknown) => void }[] = [];
  #running = false;
  #restUntil = 0;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Resolves when the bytes of these closed files are on the disk. */
  async reach(paths: readonly string[]): Promise<void> {
    if (paths.length === 0) return;
    const { promise, resolve: done, reject: failed } = Promise.withResolvers<void>();
    this.#waiting.push({ paths, done, failed });
    if (!this.#running) void this.#run();
    await promise;
  }

  async #run(): Promise<void> {
    this.#running = true;
    while (this.#waiting.length > 0) {
      if (this.#waiting.some(({ paths }) => paths.length > few))
        await pause(Math.max(0, this.#restUntil - performance.now()));
      // A file that comes from here on may have been written after the sync began: it waits for the next.
      const group = this.#waiting;
      this.#waiting = [];
      try {
        await this.#sync(group.flatMap(({ paths }) => paths));
        for (const { done } of group) done();
      } catch (error) {
        for (const { failed } of group) failed(error);
      }
    }
    this.#running = false;
  }

  async #sync(paths: readonly string[]): Promise<void> {
    if (paths.length > few && program !== undefined) {
      const since = performance.now();
      const synced = await syncedWhole(program, this.#folder);
      const now = performance.now();
      this.#restUntil = now + Math.max(restMs, (now - since) * restPerSync);
      if (synced) return;
    }
    // No sync program, or the disk failed somewhere: each file is synced by itself.
    for (let at = 0; at < paths.length; at += few) await Promise.all(paths.slice(at, at + few).map(syncedAlone));
  }
}

/** `sync -f` is syncfs(2), which Node doesn't have. */
async function syncedWhole(path: string, folder: string): Promise<boolean> {
  const child = spawn(path, ['-f', folder], { stdio: 'ignore', env: {} });
  try {
    const [code] = await once(child, 'close');
    return code === 0;
  } catch {
    // It could not be started.
    return false;
  }
}

async function syncedAlone(path: string): Promise<void> {
  const fd = openSync(path, 'r');
  try {
    await fsyncOf(fd);
  } finally {
    closeSync(fd);
  }
}
