import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Change } from './changes.ts';
import { type Kind, passes } from './trial.ts';

/** What a test file does without any change: whether it passes, how long it takes, and what it executes. */
export interface Baseline {
  passed: boolean;
  ms: number;
  executes: (change: Change) => boolean;
  /** Whether any of its processes tells of this source file. */
  knows: (file: string) => boolean;
}

export async function baselineOf(root: string, file: string, kind: Kind): Promise<Baseline> {
  const notes = await mkdtemp(join(root, 'node_modules', '.reach-'));
  try {
    const began = performance.now();
    const passed = await passes(root, file, kind, notes);
    const ms = performance.now() - began;
    const executed = readNotes(notes, root);
    const executes = ({ file, start }: Change) => executed.get(file)?.some((spans) => isIn(spans, start)) ?? false;
    return { passed, ms, executes, knows: (source) => executed.has(source) };
  } finally {
    rmSync(notes, { recursive: true, force: true });
  }
}

/** V8's account of one script in one process: the innermost span around a place says how often it was executed. */
interface Span {
  startOffset: number;
  endOffset: number;
  count: number;
}
interface Account {
  result: { url: string; functions: { ranges: Span[] }[] }[];
}

function isIn(spans: readonly Span[], at: number): boolean {
  let inner: Span | undefined;
  for (const span of spans)
    if (span.startOffset <= at && at < span.endOffset && (!inner || lengthOf(span) <= lengthOf(inner))) inner = span;
  return inner !== undefined && inner.count > 0;
}
const lengthOf = ({ startOffset, endOffset }: Span) => endOffset - startOffset;

/** By source file: the spans of each process that loaded it. A process that was killed leaves no account. */
function readNotes(folder: string, root: string): Map<string, Span[][]> {
  const found = new Map<string, Span[][]>();
  for (const name of readdirSync(folder)) {
    const account = parse(readFileSync(join(folder, name), 'utf8'));
    for (const { url, functions } of account?.result ?? []) {
      const path = url.startsWith('file:') ? fileURLToPath(url) : '';
      if (!path.startsWith(`${root}/`) || path.includes('/node_modules/') || path.includes('/test/')) continue;
      const file = path.slice(root.length + 1);
      found.set(file, [...(found.get(file) ?? []), functions.flatMap(({ ranges }) => ranges)]);
    }
  }
  return found;
}

/** Undefined if its process was killed while it wrote. */
function parse(text: string): Account | undefined {
  try {
    return JSON.parse(text) as Account;
  } catch {
    return undefined;
  }
}
