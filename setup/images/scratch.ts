import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';

function alive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** A folder for the duration of the work. The next process removes what a killed one left. */
export async function withScratch<T>(home: string, work: (folder: string) => Promise<T>): Promise<T> {
  const parent = join(home, 'tmp');
  await mkdir(parent, { recursive: true, mode: 0o755 });
  for (const name of await readdir(parent)) {
    const pid = /^images-(\d+)-/.exec(name)?.[1];
    // A folder that cannot be removed does no harm; go on building.
    if (pid && !alive(Number(pid))) await rm(join(parent, name), { recursive: true, force: true }).catch(() => {});
  }
  const folder = await mkdtemp(join(parent, `images-${process.pid}-`));
  try {
    return await work(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
