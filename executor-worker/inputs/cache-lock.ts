import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { HotcellError } from '@hotcell/contract/errors.ts';

/**
 * One process per cache, because only the process knows what it uses. SQLite is nothing but the lock: the kernel releases
 * it with the process, however that ends.
 */
export function lockFolder(folder: string): Disposable {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const database = new DatabaseSync(join(folder, 'lock.db'), { timeout: 0 });
  try {
    database.exec('PRAGMA journal_mode = DELETE; BEGIN EXCLUSIVE');
  } catch (cause) {
    database.close();
    throw new HotcellError('internal', `Another worker uses ${folder}. Give every worker its own HOTCELL_STATE_DIR.`, {
      cause,
    });
  }
  return { [Symbol.dispose]: () => database.close() };
}
