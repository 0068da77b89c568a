import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Engine } from '@hotcell/outside/engine/engine.ts';
import { command, must } from '@hotcell/setup/command.ts';
import { withRunsc } from '@hotcell/setup/engine/daemon-json.ts';
import type { Bed } from './bed.ts';
import { until } from './until.ts';

/** A container engine of a test's own, which may be killed. */
export interface OwnEngine extends AsyncDisposable {
  readonly socket: string;
  readonly engine: Engine;
  start(): Promise<void>;
  /** Kills the daemon; what it started lives on. */
  crash(): Promise<void>;
  /** Kills everything of it, as when its machine loses power. */
  loseAll(): Promise<void>;
}

/** Starts it with one image of the shared engine, and with gVisor as there. */
export async function openOwnEngine(bed: Bed, image: string): Promise<OwnEngine> {
  const home = await bed.folder('engine');
  const run = await bed.shortFolder();
  const settings = join(home, 'daemon.json');
  await writeFile(settings, withRunsc(undefined));
  const socket = join(run, 's');
  const engine = new Engine(socket);
  let daemon: ChildProcess | undefined;
  const end = async (signal: NodeJS.Signals) => {
    if (!daemon || daemon.exitCode !== null || daemon.signalCode !== null) return;
    const gone = once(daemon, 'exit');
    daemon.kill(signal);
    await gone;
  };
  const own: OwnEngine = {
    socket,
    engine,
    async start() {
      daemon = startDaemon({ home, run, settings, socket });
      const started = daemon;
      await until('the engine answers', async () => {
        if (started.exitCode !== null) throw new Error(readFileSync(join(home, 'log'), 'utf8').slice(-2000));
        return await engine.version();
      });
    },
    crash: () => end('SIGKILL'),
    async loseAll() {
      await end('SIGKILL');
      // The processes that it started name its folder, and the containers end with them.
      for (const pid of await processesWith(run)) process.kill(pid, 'SIGKILL');
      await until('its processes are gone', async () => (await processesWith(run)).length === 0);
    },
    async [Symbol.asyncDispose]() {
      await end('SIGTERM');
      await own.loseAll();
      // A killed daemon leaves files that a machine without power would have lost.
      for (const path of await mountsBelow([home, run])) await command(['umount', '--lazy', path]);
    },
  };
  try {
    await own.start();
    const archive = join(home, 'image.tar');
    await must(['docker', 'save', '--output', archive, image]);
    await must(['docker', '--host', `unix://${socket}`, 'load', '--quiet', '--input', archive]);
    return own;
  } catch (error) {
    await own[Symbol.asyncDispose]();
    throw error;
  }
}

function startDaemon(places: { home: string; run: string; settings: string; socket: string }): ChildProcess {
  const { home, run, settings, socket } = places;
  const roots = ['--data-root', join(home, 'data'), '--exec-root', join(run, 'exec'), '--pidfile', join(run, 'pid')];
  const without = ['--bridge', 'none', '--iptables=false', '--ip6tables=false', '--ip-forward=false'];
  const words = ['--config-file', settings, '--host', `unix://${socket}`, ...roots, ...without, '--log-level', 'warn'];
  const log = openSync(join(home, 'log'), 'a');
  // In a network namespace of its own: an engine without a bridge removes the machine's bridge.
  const daemon = spawn('unshare', ['--net', 'dockerd', ...words], { stdio: ['ignore', log, log] });
  closeSync(log);
  return daemon;
}

/** Other processes of the machine whose command line contains this text. */
async function processesWith(text: string): Promise<number[]> {
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
