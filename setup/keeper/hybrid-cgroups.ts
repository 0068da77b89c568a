import { existsSync } from 'node:fs';
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { command } from '../command.ts';
import type { SetupProgress } from '../progress.ts';

const mount = '/sys/fs/cgroup';

/** The controllers that a host with version 1 has left in version 2. */
async function leftInSecond(): Promise<string[]> {
  if (existsSync(join(mount, 'cgroup.controllers'))) return [];
  const text = await readFile(join(mount, 'unified', 'cgroup.controllers'), 'utf8').catch(() => '');
  return text.split(/\s+/).filter(Boolean);
}

/**
 * crun refuses a host that has controllers in both versions of cgroups, so the ones that are left in version 2 are
 * mounted as version 1 as well. They stay mounted until the machine restarts: a controller that was unmounted again stays
 * attached without a mount, and from then on the engine hears of no kill for memory. Without the right to mount, the
 * keeper uses runc.
 */
export async function separateCgroups(progress: SetupProgress): Promise<void> {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return;
  const left = await leftInSecond();
  if (left.length === 0) return;
  await progress.step(`mounting the cgroup controllers ${left.join(', ')} as version 1`, async () => {
    for (const name of left) {
      await mkdir(join(mount, name), { recursive: true });
      await command(['mount', '-t', 'cgroup', '-o', name, 'cgroup', join(mount, name)]);
    }
  });
}
