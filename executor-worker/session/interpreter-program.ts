import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { sha256 } from '@hotcell/contract/digest.ts';
import type { Language } from '@hotcell/contract/languages.ts';

/** The program that runs a session's Python steps: handed over as an argument, so that no file of the cell can change it. */
const text = readFileSync(join(import.meta.dirname, 'interpreter.py'), 'utf8');

export const interpreterDigest = sha256(text);

export function interpreterArgv(languages: readonly Language[]): readonly string[] {
  const [program = 'python3'] = languages.find(({ name }) => name === 'python')?.command ?? [];
  return [program, '-u', '-c', text];
}
