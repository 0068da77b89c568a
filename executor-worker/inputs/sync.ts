import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, fsync, openSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';

const fsyncOf = promisify(fsync);
/** So few are synced one by one: the disk has less to do than for everything that waits for it. */
const few = 16;
/** Between two syncs of the whole file system, for others to join the next one; and longer the longer one takes. */
const restMs = 100;
const restPerSync = 3;
const program = ['/usr/bin/sync', '/bin/sync'].find((path) => existsSync(path));

/**
 * Many small files reach the disk together. Each of them waits for a sync that began after it was written; what it
 * shares is the journal's commit, which is what one sync per file costs.
 */
export class GroupSync {
  readonly #folder: string;
  #waiting: { paths: readonly string[]; done: () => void; failed: (error: unknown) => void }[] = [];
  #running = false;
  #restUntil = 0;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** The bytes of these files, closed already, are on the disk when the promise is kept. */
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
      // Whoever comes from here on may have written after the sync began, and waits for the next.
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
    // Not there, or the disk failed somewhere: each file says for itself whether it is on the disk.
    for (let at = 0; at < paths.length; at += few) await Promise.all(paths.slice(at, at + few).map(syncedAlone));
  }
}

/** `sync -f` is syncfs(2), which Node has not. */
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
