import { statSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A service without an API shows that it is alive by the age of a file in its temporary folder. */
const staleMs = 30_000;
const fileOf = (service: string) => join(tmpdir(), `.hotcell-${service}-alive`);

export function sayAlive(service: string): void {
  const now = new Date();
  try {
    utimesSync(fileOf(service), now, now);
  } catch {
    // The file does not exist yet.
    writeFileSync(fileOf(service), '');
  }
}

export function isAlive(service: string): boolean {
  const found = statSync(fileOf(service), { throwIfNoEntry: false });
  return found !== undefined && Date.now() - found.mtimeMs < staleMs;
}
