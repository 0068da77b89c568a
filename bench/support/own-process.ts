import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { spawnNode } from '../../test/support/child.ts';

/** As the worker's service is told to use memory. */
function memorySettings(): Record<string, string> {
  const service = /\n  executor-worker:\n[^]*?\n\n/.exec(readFileSync('docker-compose.yml', 'utf8'))?.[0] ?? '';
  const settings = service.matchAll(/^ +(NODE_OPTIONS|MALLOC_ARENA_MAX): "?([^"\n]+)/gm);
  return Object.fromEntries([...settings].map(([, name = '', value = '']) => [name, value]));
}

/** A program of this folder in a process of its own, so that its memory is its own; it says one line of JSON. */
export async function inOwnProcess<T>(name: string, asked: unknown): Promise<T> {
  const env = { ...memorySettings(), ASKED: JSON.stringify(asked) };
  await using child = spawnNode(join('bench/support', name), env);
  const { code, signal } = await child.ended;
  if (code !== 0) throw new Error(`${name} ended with ${code ?? signal}: ${child.said()}`);
  return JSON.parse(child.said().trim().split('\n').at(-1) ?? '') as T;
}

/** Of this process, at its end. Its own peak: maxRSS would be that of whoever started it, if that was larger. */
export function sayAtEnd(ms: number): void {
  const kib = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1];
  process.stderr.write(`${JSON.stringify({ ms, peakBytes: Number(kib) * 1024 })}\n`);
}
export interface OwnProcess {
  ms: number;
  peakBytes: number;
}
