import { access, constants } from 'node:fs/promises';
import { join } from 'node:path';
import { textIfThere } from '../settings/config-file.ts';

const needed = ['memory', 'cpu', 'pids'];

/** Why cells can't have cgroups of their own on this host; empty if they can. */
export async function whyNoCgroups(mount = '/sys/fs/cgroup'): Promise<string> {
  const unified = await textIfThere(join(mount, 'cgroup.controllers'));
  if (unified !== undefined) {
    const missing = needed.filter((name) => !unified.split(/\s+/).includes(name));
    if (missing.length > 0) return `${mount} has no controller ${missing.join(', no ')}, and cells need it`;
    return (await isWritable(join(mount, 'cgroup.subtree_control'))) ? '' : `${mount} can't be written to`;
  }
  // Version 1 ends a cgroup as a whole only while it is frozen.
  for (const name of [...needed, 'freezer'])
    if (!(await isWritable(join(mount, name, 'cgroup.procs')))) return `${mount} has no ${name} that can be written to`;
  return '';
}

async function isWritable(path: string): Promise<boolean> {
  return await access(path, constants.W_OK).then(
    () => true,
    () => false,
  );
}
