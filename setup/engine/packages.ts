import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { command, failed, must } from '../command.ts';
import { daemonJsonPath } from './engine-facts.ts';
import { withRunsc } from './daemon-json.ts';

type Say = (line: string) => void;

const apt = { DEBIAN_FRONTEND: 'noninteractive', NEEDRESTART_SUSPEND: '1' };
// Wait for another package manager to finish; retry a mirror that fails once.
const lockSeconds = 300;
const aptOptions = ['-o', `DPkg::Lock::Timeout=${lockSeconds}`, '-o', 'Acquire::Retries=3'];

export async function repairPackages(say: Say): Promise<void> {
  await configurePackages(say);
  await must(['apt-get', ...aptOptions, '-y', '--fix-broken', 'install'], { say, env: apt });
}

/** Unlike apt, dpkg does not wait for another dpkg, and an interrupted one may still be ending. */
async function configurePackages(say: Say): Promise<void> {
  const argv = ['dpkg', '--configure', '-a', '--force-confold'] as const;
  const end = performance.now() + lockSeconds * 1000;
  for (;;) {
    const { code, stderr } = await command(argv, { say, env: apt });
    if (code === 0) return;
    const locked = /lock was locked by another process/.test(stderr);
    if (!locked || performance.now() > end) throw failed(argv, code, stderr);
    await sleep(1000);
  }
}

/** The mirror that this machine already uses. */
export function mirrorOf(sources: string): string {
  return /\b(https?:\/\/\S+\/debian)\/?(?=\s|$)/m.exec(sources)?.[1] ?? 'http://deb.debian.org/debian';
}

async function currentSources(): Promise<string> {
  const texts: string[] = [];
  for (const path of ['/etc/apt/sources.list.d/debian.sources', '/etc/apt/sources.list']) {
    // Either file may be missing: use the other, or the default mirror.
    texts.push(await readFile(path, 'utf8').catch(() => ''));
  }
  return texts.join('\n').replace(/^\s*#.*$/gm, '');
}

export async function addSources(say: Say): Promise<void> {
  const mirror = mirrorOf(await currentSources());
  const keyring = 'Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg';
  const stanza = (suite: string) => `Types: deb\nURIs: ${mirror}\nSuites: ${suite}\nComponents: main\n${keyring}\n`;
  // The pin comes first: no upgrade between the two writes may take trixie's packages.
  await writeFile('/etc/apt/preferences.d/hotcell', 'Package: *\nPin: release n=trixie\nPin-Priority: 50\n');
  await writeFile('/etc/apt/sources.list.d/hotcell.sources', `${stanza('trixie')}\n${stanza('bookworm-backports')}`);
  say(`package sources from ${mirror}`);
}

export async function install(packages: readonly string[], say: Say): Promise<void> {
  await must(['apt-get', ...aptOptions, 'update'], { say, env: apt });
  await must(['apt-get', ...aptOptions, 'install', '-y', '--no-install-recommends', ...packages], { say, env: apt });
}

export async function registerRunsc(): Promise<void> {
  await mkdir('/etc/docker', { recursive: true });
  const before = await readFile(daemonJsonPath, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  await writeFile(daemonJsonPath, withRunsc(before));
}
