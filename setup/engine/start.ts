import { readFile, readlink, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { HotcellError } from '@hotcell/contract/errors.ts';
import { command, must } from '../command.ts';
import { daemonJsonPath } from './engine-facts.ts';

type Say = (line: string) => void;

const log = '/var/log/hotcell-engine.log';
const pidfile = '/run/hotcell-engine.pid';
const waitSeconds = 60;

async function pidIn(path: string): Promise<number | undefined> {
  const text = await readFile(path, 'utf8').catch(() => '');
  const pid = Number.parseInt(text, 10);
  return Number.isSafeInteger(pid) && pid > 0 ? pid : undefined;
}

async function programOf(pid: number): Promise<string> {
  // The process has ended.
  return (await readlink(`/proc/${pid}/exe`).catch(() => '')).replace(/ \(deleted\)$/, '');
}

async function answers(socket: string): Promise<boolean> {
  return await new Promise((resolve) => {
    const attempt = connect(socket, () => resolve(true)).on('error', () => resolve(false));
    attempt.on('connect', () => attempt.destroy());
  });
}

/**
 * An engine that was killed leaves pid files. If another program has that pid by now, the next engine believes it is
 * already running, or waits for a containerd that is gone.
 */
async function removeStaleState(): Promise<void> {
  for (const [path, program] of [
    ['/run/docker.pid', 'dockerd'],
    ['/run/docker/containerd/containerd.pid', 'containerd'],
    [pidfile, 'dockerd'],
  ] as const) {
    const pid = await pidIn(path);
    if (pid === undefined || !(await programOf(pid)).endsWith(`/${program}`)) await rm(path, { force: true });
  }
  for (const socket of ['/run/containerd/containerd.sock', '/run/docker/containerd/containerd.sock']) {
    if (!(await answers(socket))) await rm(socket, { force: true });
  }
}

async function dockerdPid(): Promise<number | undefined> {
  const pid = await pidIn('/run/docker.pid');
  return pid !== undefined && (await programOf(pid)).endsWith('/dockerd') ? pid : undefined;
}

async function untilItAnswers(say: Say): Promise<void> {
  const end = performance.now() + waitSeconds * 1000;
  while (performance.now() < end) {
    const info = await command(['docker', 'info', '--format', '{{.ServerVersion}}']);
    if (info.code === 0 && info.stdout.trim() !== '') return;
    say(info.stderr.trim().split('\n').at(-1) ?? '');
    await sleep(250);
  }
  const said = (await readFile(log, 'utf8').catch(() => '')).trim().split('\n').slice(-5).join('\n');
  throw new HotcellError(
    'engine_unavailable',
    `The engine did not answer within ${waitSeconds} s. The end of ${log}:\n${said}`,
  );
}

export async function startEngine(systemd: boolean, say: Say): Promise<void> {
  if (systemd) await must(['systemctl', 'enable', '--now', 'docker'], { say });
  else await removeStaleState();
  const running = await dockerdPid();
  // The package may have started the engine before its settings were written.
  if (running !== undefined) await reloadEngine(systemd);
  else {
    // The shell only opens the log. The daemon must outlive this process, its terminal and its process group.
    const daemon = `start-stop-daemon --start --oknodo --background --no-close --make-pidfile --pidfile ${pidfile} --exec /usr/sbin/dockerd -- --config-file ${daemonJsonPath}`;
    await must(['sh', '-c', `exec ${daemon} </dev/null >>${log} 2>&1`], { say });
  }
  await untilItAnswers(say);
}

/** A running engine can reload its runtimes without disturbing its containers. */
export async function reloadEngine(systemd: boolean): Promise<void> {
  if (systemd) {
    await must(['systemctl', 'kill', '--signal=HUP', '--kill-who=main', 'docker']);
    return;
  }
  const pid = await dockerdPid();
  if (pid !== undefined) process.kill(pid, 'SIGHUP');
}
