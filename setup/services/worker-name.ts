import { hostname } from 'node:os';

/** The name of this machine's worker in lists, and on the list of signing keys. */
export function workerNameHere(): string {
  const name = hostname().replace(/[^a-zA-Z0-9._-]/g, '-');
  return name.slice(0, 48) || 'worker';
}
