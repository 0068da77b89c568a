import { type ChildProcess, spawn } from 'node:child_process';
import { appendFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { must } from '@hotcell/setup/command.ts';
import { until } from './until.ts';

const root = resolve(import.meta.dirname, '../..');
/** A compile cache makes starting a process cheaper. */
const compiled = resolve(root, 'node_modules/.cache/compiled');
const accountMs = 3_000;

export interface Child extends AsyncDisposable {
  readonly process: ChildProcess;
  /** Everything it wrote to stderr. */
  said(): string;
  /** Waits until its stderr contains this text; rejects with all of stderr if it ends before. */
  saying(text: string): Promise<void>;
  /** How it ended. */
  ended: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
  kill(signal: NodeJS.Signals): void;
  /** Sends SIGTERM and waits for its end. */
  stop(): Promise<void>;
}

/** Children that are alive. A test file that is ended from outside kills them, even the stopped ones. */
const alive = new Set<ChildProcess>();
process.on('exit', () => {
  for (const child of alive) child.kill('SIGKILL');
});
for (const [signal, code] of [
  ['SIGTERM', 143],
  ['SIGINT', 130],
] as const)
  process.once(signal, () => process.exit(code));

/** Notes a reached crash point for the runner's report: see `runner/crash-points.ts`. */
function noteCrashPoint(line: string): void {
  const file = process.env['TEST_REACHED'];
  if (file && line.startsWith('{"crashPoint":')) appendFileSync(file, `${line}\n`);
}

/** `npm run mutate` asks every process of a test what it executed. */
function coverage(): Record<string, string> {
  const folder = process.env['NODE_V8_COVERAGE'];
  return folder ? { NODE_V8_COVERAGE: folder } : {};
}

/**
 * Starts one of our processes as in production, with exactly this environment. `under` is a command that becomes the
 * process, for example within another network namespace.
 */
export function spawnNode(
  file: string,
  env: Readonly<Record<string, string>>,
  words: readonly string[] = [],
  under: readonly string[] = [],
): Child {
  const [command = process.execPath, ...args] = [...under, process.execPath, resolve(root, file), ...words];
  const child = spawn(command, args, {
    cwd: root,
    env: { PATH: process.env['PATH'] ?? '', NODE_COMPILE_CACHE: compiled, ...coverage(), ...env },
    stdio: ['ignore', 'inherit', 'pipe'],
  });
  alive.add(child);
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    const begun = said.lastIndexOf('\n') + 1;
    said += text;
    for (const line of said.slice(begun).split('\n').slice(0, -1)) noteCrashPoint(line);
    if (process.env['TEST_LOG']) process.stderr.write(text);
  });
  const ended = new Promise<{ code: number | null; signal: NodeJS.Signals | null }>((resolve) => {
    child.once('close', (code, signal) => {
      alive.delete(child);
      resolve({ code, signal });
    });
  });
  return {
    process: child,
    said: () => said,
    ended,
    kill: (signal) => void child.kill(signal),
    saying(text) {
      return new Promise((done, failed) => {
        const look = () => {
          if (!said.includes(text)) return;
          child.stderr.off('data', look);
          done();
        };
        child.stderr.on('data', look);
        look();
        void ended.then(({ code, signal }) => {
          look();
          failed(new Error(`${file} ended (${code ?? signal}) before it said ${text}:\n${said}`));
        });
      });
    },
    async stop() {
      child.kill('SIGTERM');
      await ended;
    },
    async [Symbol.asyncDispose]() {
      child.kill('SIGCONT');
      // A process that is killed leaves no account of what it executed.
      if (process.env['NODE_V8_COVERAGE']) child.kill('SIGTERM');
      if (process.env['NODE_V8_COVERAGE']) await Promise.race([ended, pause(accountMs, undefined, { ref: false })]);
      child.kill('SIGKILL');
      await ended;
    },
  };
}

/** Waits until SIGSTOP has taken effect. */
export async function asleep({ process: { pid } }: Child): Promise<void> {
  await until(`process ${pid} sleeps`, async () =>
    (await must(['ps', '-o', 'state=', '-p', String(pid)])).startsWith('T'),
  );
}
