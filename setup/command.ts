import { type ChildProcess, spawn } from 'node:child_process';
import { HotcellError } from '@hotcell/contract/errors.ts';

export type Argv = readonly [string, ...string[]];

interface Options {
  say?: (line: string) => void;
  env?: Readonly<Record<string, string | undefined>>;
  cwd?: string;
  signal?: AbortSignal;
}

export interface Ended {
  /** 127 if the program was not found. */
  code: number;
  stdout: string;
  stderr: string;
}

const children = new Set<ChildProcess>();

/** When this process ends, the programs it started must end too. */
export function endChildren(signal: NodeJS.Signals): void {
  for (const child of children) child.kill(signal);
}

const keptCharacters = 1 << 20;

/** Runs a program to its end. It never throws for what the program did: the exit code is data. */
export async function command(argv: Argv, options: Options = {}): Promise<Ended> {
  const child = spawn(argv[0], argv.slice(1), {
    cwd: options.cwd,
    env: options.env ? { ...process.env, ...options.env } : process.env,
    stdio: ['ignore', 'pipe', 'pipe'],
    ...(options.signal && { signal: options.signal }),
  });
  children.add(child);
  const kept = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (text: string) => {
      kept[name] = (kept[name] + text).slice(-keptCharacters);
      if (options.say) for (const line of text.split(/[\r\n]+/)) if (line.trim() !== '') options.say(line);
    });
  }
  child.on('exit', () => children.delete(child)).on('error', () => children.delete(child));
  return await new Promise<Ended>((resolve, reject) => {
    child.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') resolve({ code: 127, stdout: '', stderr: `${argv[0]}: not found` });
      else reject(error);
    });
    child.on('close', (code) => resolve({ code: code ?? 128, ...kept }));
  });
}

/** Like `command`, but throws if the program fails; the error carries its last output. */
export async function must(argv: Argv, options: Options = {}): Promise<string> {
  const { code, stdout, stderr } = await command(argv, options);
  if (code === 0) return stdout;
  throw failed(argv, code, stderr.trim() || stdout.trim());
}

export function failed(argv: Argv, code: number, output: string): HotcellError {
  const said = output.trim().split('\n').slice(-8).join('\n');
  return new HotcellError('internal', `\`${argv.join(' ')}\` failed with exit code ${code}:\n${said}`);
}
