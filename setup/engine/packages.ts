import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { command, failed, must } from '../command.ts';
import { daemonJsonPath } from './engine-facts.ts';
import { withRunsc } from './daemon-json.ts';

type Say = (line: string) => void;

const apt = { DEBIAN_FRONTEND: 'noninteractive', NEEDRESTART_SUSPEND: '1' };
// Another package manager at work is waited for; a mirror that stumbles once is asked again.
const lockSeconds = 300;
const aptOptions = ['-o', `DPkg::Lock::Timeout=${lockSeconds}`, '-o', 'Acquire::Retries=3'];

export async function repairPackages(say: Say): Promise<void> {
  await configurePackages(say);
  await must(['apt-get', ...aptOptions, '-y', '--fix-broken', 'install'], { say, env: apt });
}

/** dpkg itself does not wait for another one at work, as apt does: one that was interrupted may still be ending. */
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

/** The mirror this machine already uses, so that a machine behind one keeps to it. */
export function mirrorOf(sources: string): string {
  return /\b(https?:\/\/\S+\/debian)\/?(?=\s|$)/m.exec(sources)?.[1] ?? 'http://deb.debian.org/debian';
}

async function currentSources(): Promise<string> {
  const texts: string[] = [];
  for (const path of ['/etc/apt/sources.list.d/debian.sources', '/etc/apt/sources.list']) {
    // Either form may be missing: then the other, or the default mirror, serves.
    texts.push(await readFile(path, 'utf8').catch(() => ''));
  }
  return texts.join('\n').replace(/^\s*#.*$/gm, '');
}

export async function addSources(say: Say): Promise<void> {
  const mirror = mirrorOf(await currentSources());
  const keyring = 'Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg';
  const stanza = (suite: string) => `Types: deb\nURIs: ${mirror}\nSuites: ${suite}\nComponents: main\n${keyring}\n`;
  // The pin comes first: between the two writes no upgrade must be able to take trixie's packages.
  await writeFile('/etc/apt/preferences.d/hotcell', 'Package: *\nPin: release n=trixie\nPin-Priority: 50\n');
  await writeFile('/etc/apt/sources.list.d/hotcell.sources', `${stanza('trixie')}\n${stanza('bookworm-backports')}`);
  say(`sources from ${mirror}`);
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
