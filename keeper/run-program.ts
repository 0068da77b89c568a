import { spawn } from 'node:child_process';
import { once } from 'node:events';

const withinMs = 10_000;

/** Runs a small program of the system to its end, bounded in time. */
export async function runProgram(
  words: readonly [string, ...string[]],
  stdio: 'ignore' | ('ignore' | 'pipe' | number)[] = ['ignore', 'ignore', 'pipe'],
): Promise<{ code: number | null; said: string }> {
  const [program, ...args] = words;
  const child = spawn(program, args, { stdio, timeout: withinMs });
  let said = '';
  child.stderr?.on('data', (bytes: Buffer) => (said += bytes.toString('utf8').slice(0, 1000)));
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, said: said.trim() };
}
