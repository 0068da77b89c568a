import { mkdirSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { DatabaseSync } from 'node:sqlite';
import { dirname } from 'node:path';
import type { SetupProgress } from '../progress.ts';

function isBusy(error: unknown): boolean {
  return error instanceof Error && 'errcode' in error && error.errcode === 5;
}

/**
 * One command at a time changes an installation. The lock is the kernel's own, on a database file: it goes with the
 * process that held it, so it is never stale. A second command waits, and then finds the work done.
 */
export async function withLock<T>(path: string, progress: SetupProgress, work: () => Promise<T>): Promise<T> {
  mkdirSync(dirname(path), { recursive: true });
  const database = new DatabaseSync(path);
  try {
    if (!taken(database))
      await progress.step('waiting for another command on this installation', async () => {
        while (!taken(database)) await sleep(100);
      });
    return await work();
  } finally {
    database.close();
  }
}

function taken(database: DatabaseSync): boolean {
  try {
    database.exec('BEGIN EXCLUSIVE');
    return true;
  } catch (error) {
    if (isBusy(error)) return false;
    throw error;
  }
}
