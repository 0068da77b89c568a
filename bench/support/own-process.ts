import { join } from 'node:path';
import { spawnNode } from '../../test/support/child.ts';

/** A program of this folder in a process of its own, so that its memory is its own; it says one line of JSON. */
export async function inOwnProcess<T>(name: string, asked: unknown): Promise<T> {
  await using child = spawnNode(join('bench/support', name), { ASKED: JSON.stringify(asked) });
  const { code, signal } = await child.ended;
  if (code !== 0) throw new Error(`${name} ended with ${code ?? signal}: ${child.said()}`);
  return JSON.parse(child.said().trim().split('\n').at(-1) ?? '') as T;
}

/** Of this process, at its end. */
export function sayAtEnd(ms: number): void {
  process.stderr.write(`${JSON.stringify({ ms, peakBytes: process.resourceUsage().maxRSS * 1024 })}\n`);
}
export interface OwnProcess {
  ms: number;
  peakBytes: number;
}
