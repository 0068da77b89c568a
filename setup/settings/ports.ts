import { readdir, readFile, readlink } from 'node:fs/promises';
import { createServer } from 'node:net';
import { command } from '../command.ts';

/** The program that listens on a port, as far as this user may see it. */
export interface Holder {
  port: number;
  pid?: number;
  program?: string;
  container?: string;
}

export async function isFree(port: number): Promise<boolean> {
  const server = createServer();
  return await new Promise((resolve) => {
    server.once('error', () => resolve(false));
    server.listen({ port, host: '127.0.0.1', exclusive: true }, () => server.close(() => resolve(true)));
  });
}

const listening = '0A';

/** A socket's inode, from the kernel's table: `sl local_address rem_address st … inode`. */
export function inodeOf(table: string, port: number): string | undefined {
  const hex = port.toString(16).toUpperCase().padStart(4, '0');
  for (const line of table.split('\n')) {
    const columns = line.trim().split(/\s+/);
    if (columns[1]?.endsWith(`:${hex}`) && columns[3] === listening) return columns[9];
  }
  return undefined;
}

async function ownerOf(inode: string): Promise<{ pid: number; program: string } | undefined> {
  for (const pid of await readdir('/proc')) {
    if (!/^[0-9]+$/.test(pid)) continue;
    // A process may end meanwhile, and those of other users are hidden from us.
    const descriptors = await readdir(`/proc/${pid}/fd`).catch(() => []);
    for (const fd of descriptors) {
      const target = await readlink(`/proc/${pid}/fd/${fd}`).catch(() => '');
      if (target !== `socket:[${inode}]`) continue;
      const words = (await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')).split('\0');
      return { pid: Number(pid), program: words.join(' ').trim().slice(0, 120) };
    }
  }
  return undefined;
}

async function fromLsof(port: number): Promise<{ pid: number; program: string } | undefined> {
  const { stdout } = await command(['lsof', '-nP', `-iTCP:${port}`, '-sTCP:LISTEN', '-Fpc']);
  const pid = /^p([0-9]+)$/m.exec(stdout)?.[1];
  return pid === undefined ? undefined : { pid: Number(pid), program: /^c(.*)$/m.exec(stdout)?.[1] ?? '' };
}

export async function holderOf(port: number): Promise<Holder> {
  const published = await command(['docker', 'ps', '--filter', `publish=${port}`, '--format', '{{.Names}}']);
  const container = published.stdout.split('\n')[0];
  if (published.code === 0 && container) return { port, container };
  if (process.platform !== 'linux') return { port, ...(await fromLsof(port)) };
  for (const table of ['/proc/net/tcp', '/proc/net/tcp6']) {
    const inode = inodeOf(await readFile(table, 'utf8').catch(() => ''), port);
    if (inode) return { port, ...(await ownerOf(inode)) };
  }
  return { port };
}

export function describeHolder({ port, pid, program, container }: Holder): string {
  if (container) return `port ${port} is taken by container ${container}`;
  if (pid) return `port ${port} is taken by process ${pid} (${program})`;
  return `port ${port} is taken by a process this user cannot see (\`sudo ss -ltnp 'sport = :${port}'\` names it)`;
}
