import { statSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** How a service that answers no requests says that it is alive: by the age of a file in its own temporary folder. */
const staleMs = 30_000;
const fileOf = (service: string) => join(tmpdir(), `.hotcell-${service}-alive`);

export function sayAlive(service: string): void {
  const now = new Date();
  try {
    utimesSync(fileOf(service), now, now);
  } catch {
    // Said for the first time.
    writeFileSync(fileOf(service), '');
  }
}

export function isAlive(service: string): boolean {
  const found = statSync(fileOf(service), { throwIfNoEntry: false });
  return found !== undefined && Date.now() - found.mtimeMs < staleMs;
}
