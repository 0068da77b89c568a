import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { Engine } from '@hotcell/outside/engine.ts';
import { command } from '@hotcell/setup/command.ts';
import type { Bed } from './bed.ts';
import { until } from './until.ts';

/** A container engine that may be hurt: nobody else's containers are in it. */
export interface OwnEngine extends AsyncDisposable {
  readonly socket: string;
  readonly engine: Engine;
  start(): Promise<void>;
  /** The daemon dies; what it started lives on. */
  crash(): Promise<void>;
  /** Everything of it dies, as when its machine loses power. */
  loseAll(): Promise<void>;
}

/** With one image of the shared engine. */
export async function openOwnEngine(bed: Bed, image: string): Promise<OwnEngine> {
  const home = await bed.folder('engine');
  // A socket's path is short.
  const run = join(process.env['TMPDIR'] ?? '/tmp', 'engine');
  const socket = join(run, 's');
  const engine = new Engine(socket);
  let daemon: ChildProcess | undefined;
  const own = {
    socket,
    engine,
    async start() {
      const log = openSync(join(home, 'log'), 'a');
      const roots = [
        '--data-root',
        join(home, 'data'),
        '--exec-root',
        join(run, 'exec'),
        '--pidfile',
        join(run, 'pid'),
      ];
      // An empty file: the machine's own settings are not for this one.
      const options = [
        '--config-file',
        join(home, 'none'),
        '--bridge',
        'none',
        '--iptables=false',
        '--ip6tables=false',
      ];
      const started = spawn('dockerd', ['--host', `unix://${socket}`, ...roots, ...options], {
        stdio: ['ignore', log, log],
      });
      closeSync(log);
      daemon = started;
      await until('the engine answers', async () => {
        if (started.exitCode !== null) throw new Error(readFileSync(join(home, 'log'), 'utf8').slice(-2000));
        return await engine.version();
      });
    },
    async crash() {
      await end('SIGKILL');
    },
    async loseAll() {
      await end('SIGKILL');
      for (const pid of processesWith(run)) process.kill(pid, 'SIGKILL');
      await until('its processes are gone', async () => processesWith(run).length === 0);
    },
    async [Symbol.asyncDispose]() {
      await end('SIGTERM');
      await own.loseAll();
      // What a machine that loses power forgets, a killed daemon leaves behind.
      for (const folder of [home, run])
        for (const path of mountsBelow(folder)) await command(['umount', '--lazy', path]);
      await command(['rm', '--recursive', '--force', run]);
    },
  };
  const end = async (signal: NodeJS.Signals) => {
    if (!daemon || daemon.exitCode !== null || daemon.signalCode !== null) return;
    const gone = once(daemon, 'exit');
    daemon.kill(signal);
    await gone;
  };
  await command(['mkdir', '--parents', run]);
  await command(['sh', '-c', `echo '{}' >"${join(home, 'none')}"`]);
  await own.start();
  const saved = spawn('docker', ['save', image], { stdio: ['ignore', 'pipe', 'inherit'] });
  await engine.load(saved.stdout.pipe(new PassThrough()), 60_000);
  return own;
}

/** The daemon's helpers and what runs in its containers' place: all that names its folder. */
function processesWith(path: string): number[] {
  return readdirSync('/proc').flatMap((name) => {
    if (!/^\d+$/.test(name) || Number(name) === process.pid) return [];
    try {
      return readFileSync(`/proc/${name}/cmdline`, 'latin1').includes(path) ? [Number(name)] : [];
    } catch {
      // It has ended meanwhile.
      return [];
    }
  });
}

function mountsBelow(folder: string): string[] {
  const paths = readFileSync('/proc/self/mounts', 'utf8')
    .split('\n')
    .map((line) => line.split(' ')[1] ?? '');
  return paths.filter((path) => path.startsWith(`${folder}/`)).toReversed();
}
