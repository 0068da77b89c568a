import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { spawnNode } from '../../test/support/child.ts';

/** The memory settings of the worker's service. */
function memorySettings(): Record<string, string> {
  const service = /\n  executor-worker:\n[^]*?\n\n/.exec(readFileSync('docker-compose.yml', 'utf8'))?.[0] ?? '';
  const settings = service.matchAll(/^ +(NODE_OPTIONS|MALLOC_ARENA_MAX): "?([^"\n]+)/gm);
  return Object.fromEntries([...settings].map(([, name = '', value = '']) => [name, value]));
}

/** Runs a program of this folder in its own process, so that its memory can be measured. It prints one line of JSON. */
export async function inOwnProcess<T>(name: string, asked: unknown): Promise<T> {
  const env = { ...memorySettings(), ASKED: JSON.stringify(asked) };
  await using child = spawnNode(join('bench/support', name), env);
  const { code, signal } = await child.ended;
  if (code !== 0) throw new Error(`${name} ended with ${code ?? signal}: ${child.said()}`);
  return JSON.parse(child.said().trim().split('\n').at(-1) ?? '') as T;
}

/** This process's own peak, at its end: maxRSS would include the parent's, if that was larger. */
export function sayAtEnd(ms: number): void {
  const kib = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1];
  process.stderr.write(`${JSON.stringify({ ms, peakBytes: Number(kib) * 1024 })}\n`);
}
export interface OwnProcess {
  ms: number;
  peakBytes: number;
}
