import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { checkout } from '@hotcell/setup/settings/installation.ts';

export interface Ended {
  code: number | null;
  stdout: string;
  stderr: string;
  /** The lines of stdout as JSON, with `--json`. */
  rows: Record<string, unknown>[];
}

export interface Calling {
  process: ChildProcess;
  ended: Promise<Ended>;
  /** Waits until stderr contains this text, or the command has ended. */
  saying(text: string): Promise<void>;
}

/** The command line with only a URL and an API key. */
export function cliWith(env: Readonly<Record<string, string>>) {
  const call = (args: readonly string[], input = ''): Calling => {
    const child = spawn(process.execPath, [join(checkout, 'clients/cli/cli-main.ts'), ...args], {
      env: { PATH: process.env['PATH'] ?? '', ...env },
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    const kept = { stdout: '', stderr: '' };
    for (const name of ['stdout', 'stderr'] as const)
      child[name].setEncoding('utf8').on('data', (text: string) => {
        kept[name] += text;
      });
    child.stdin.end(input);
    const ended = once(child, 'close').then(([code]): Ended => {
      const lines = kept.stdout.split('\n').filter((line) => line.startsWith('{'));
      return { code, ...kept, rows: args.includes('--json') ? lines.map((line) => JSON.parse(line)) : [] };
    });
    const saying = async (text: string) => {
      const said = new Promise<void>((done) => {
        const look = () => kept.stderr.includes(text) && done();
        child.stderr.on('data', look);
        look();
      });
      await Promise.race([said, ended]);
    };
    return { process: child, ended, saying };
  };
  return {
    call,
    run: async (args: readonly string[], input?: string): Promise<Ended> => await call(args, input).ended,
  };
}
