import { globSync } from 'node:fs';

/** A file of a kept cell's cgroup on the host, by its name in version 1 or version 2. */
export function cgroupFile(installation: string, cell: string, controller: string, names: readonly string[]): string {
  const [found] = [`/sys/fs/cgroup/${controller}`, '/sys/fs/cgroup'].flatMap((top) =>
    names.flatMap((name) => globSync(`${top}/hotcell/${installation}/{,*/}${cell}/${name}`)),
  );
  if (found === undefined) throw new Error(`the cell ${cell} has no cgroup with ${names.join(' or ')}`);
  return found;
}
