import { type ChildProcess, spawn } from 'node:child_process';
import { resolve } from 'node:path';

const root = resolve(import.meta.dirname, '../..');

export interface Child extends AsyncDisposable {
  readonly process: ChildProcess;
  /** Everything it said on stderr. */
  said(): string;
  /** Until its stderr has this in it; rejects with all it said if it ends before. */
  saying(text: string): Promise<void>;
  /** How it ended. */
  ended: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
  kill(signal: NodeJS.Signals): void;
}

/** A process of ours, as it is started in production, with exactly this environment. */
export function spawnNode(file: string, env: Readonly<Record<string, string>>): Child {
  const child = spawn(process.execPath, [resolve(root, file)], {
    cwd: root,
    env: { PATH: process.env['PATH'] ?? '', ...env },
    stdio: ['ignore', 'inherit', 'pipe'],
  });
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  const ended = new Promise<{ code: number | null; signal: NodeJS.Signals | null }>((resolve) => {
    child.once('close', (code, signal) => resolve({ code, signal }));
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
    async [Symbol.asyncDispose]() {
      child.kill('SIGCONT');
      child.kill('SIGKILL');
      await ended;
    },
  };
}
