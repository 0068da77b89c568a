import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Mount } from './cell-plan.ts';
import { hostname } from './options.ts';

/** The files that stand in for an image's: naming no host, no resolver, and the job's user. */
function contents(uid: number): Readonly<Record<string, string>> {
  return {
    hosts: '127.0.0.1\tlocalhost\n::1\tlocalhost ip6-localhost ip6-loopback\n',
    hostname: `${hostname}\n`,
    'resolv.conf': '# This cell has no network: nothing is resolved.\n',
    passwd: `root:x:0:0:root:/root:/usr/sbin/nologin\njob:x:${uid}:${uid}:job:/work:/bin/sh\nnobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n`,
    group: `root:x:0:\njob:x:${uid}:\nnogroup:x:65534:\n`,
  };
}

export const folderOfCells = (stateDir: string) => join(stateDir, 'cells');

/**
 * A cell's own folder on the host, which no cell can write: what is mounted into it, read-only. A few small files: to
 * hand each to a thread and to wait for it costs the worker more than to write it.
 */
export function makeFolder(stateDir: string, id: string, uid: number): Mount[] {
  const folder = join(folderOfCells(stateDir), id);
  mkdirSync(join(folder, 'inputs'), { recursive: true, mode: 0o755 });
  const files = Object.entries(contents(uid));
  for (const [name, text] of files) writeFileSync(join(folder, name), text, { mode: 0o444 });
  return files.map(([name]) => ({ source: join(folder, name), target: `/etc/${name}` }));
}

/** What `/inputs` is for a run without any. */
export function noInputs(stateDir: string, id: string): Mount {
  return { source: join(folderOfCells(stateDir), id, 'inputs'), target: '/inputs' };
}

export function removeFolder(stateDir: string, id: string): void {
  rmSync(join(folderOfCells(stateDir), id), { recursive: true, force: true });
}
