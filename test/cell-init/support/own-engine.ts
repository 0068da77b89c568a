import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Engine } from '@hotcell/outside/engine.ts';
import { command, must } from '@hotcell/setup/command.ts';
import { withRunsc } from '@hotcell/setup/engine/daemon-json.ts';
import type { Bed } from '../../support/bed.ts';
import { until } from '../../support/until.ts';

/** A container engine of a test's own, with one image, to be killed: nothing of the machine's own is in it. */
export interface OwnEngine extends AsyncDisposable {
  readonly engine: Engine;
  /** As when it crashes: what it started lives on. */
  kill(): Promise<void>;
}

export async function startOwnEngine(bed: Bed, image: string): Promise<OwnEngine> {
  const home = await bed.folder('own-engine');
  // A socket's path is short.
  const run = join(tmpdir(), 'own-engine');
  await mkdir(run, { recursive: true });
  const settings = join(home, 'daemon.json');
  await writeFile(settings, withRunsc(undefined));
  const socket = join(run, 's');
  const roots = ['--data-root', join(home, 'data'), '--exec-root', join(run, 'exec'), '--pidfile', join(run, 'pid')];
  const without = ['--bridge', 'none', '--iptables=false', '--ip6tables=false', '--ip-forward=false'];
  const words = ['--config-file', settings, '--host', `unix://${socket}`, ...roots, ...without, '--log-level', 'warn'];
  // In a network of its own: an engine that is told to have no bridge removes the machine's.
  const daemon: ChildProcess = spawn('unshare', ['--net', 'dockerd', ...words], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let said = '';
  daemon.stderr?.on('data', (chunk: Buffer) => (said = (said + chunk.toString()).slice(-4000)));
  const end = async (signal: NodeJS.Signals) => {
    if (daemon.exitCode !== null || daemon.signalCode !== null) return;
    const gone = once(daemon, 'exit');
    daemon.kill(signal);
    await gone;
  };
  const engine = new Engine(socket);
  const own: OwnEngine = {
    engine,
    kill: () => end('SIGKILL'),
    async [Symbol.asyncDispose]() {
      await end('SIGTERM');
      // What it started names its folder. A container's own processes go with those.
      for (const pid of await processesWith(run)) process.kill(pid, 'SIGKILL');
      await until('all of the own engine is gone', async () => (await processesWith(run)).length === 0);
      for (const path of await mountsBelow([home, run])) await command(['umount', '--lazy', path]);
      await rm(run, { recursive: true, force: true });
    },
  };
  try {
    await until('the own engine answers', async () => {
      if (daemon.exitCode !== null) throw new Error(`it ended: ${said}`);
      return await engine.version();
    });
    const archive = join(home, 'image.tar');
    await must(['docker', 'save', '--output', archive, image]);
    await must(['docker', '--host', `unix://${socket}`, 'load', '--quiet', '--input', archive]);
    return own;
  } catch (error) {
    await own[Symbol.asyncDispose]();
    throw error;
  }
}

/** Processes of the machine whose command line has this text in it, but for this one. */
export async function processesWith(text: string): Promise<number[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name) && name !== String(process.pid));
  const found = await Promise.all(
    pids.map(async (pid) => {
      const line = await readFile(`/proc/${pid}/cmdline`, 'latin1').catch(() => '');
      return line.includes(text) ? [Number(pid)] : [];
    }),
  );
  return found.flat();
}

async function mountsBelow(folders: readonly string[]): Promise<string[]> {
  const lines = (await readFile('/proc/self/mounts', 'utf8')).split('\n');
  const points = lines.map((line) => line.split(' ')[1] ?? '');
  return points.filter((point) => folders.some((folder) => point.startsWith(`${folder}/`))).toReversed();
}
