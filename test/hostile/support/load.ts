import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Attack, Observation, Runtime } from './attack.ts';

const folder = join(import.meta.dirname, '../attacks');

export interface NamedAttack extends Attack {
  /** The file's name, without its ending. */
  name: string;
  /** The programs, with the helpers in front. */
  blocks: readonly string[];
}

export async function loadAttacks(): Promise<NamedAttack[]> {
  const files = (await readdir(folder)).filter((file) => file.endsWith('.ts')).toSorted();
  return Promise.all(
    files.map(async (file) => {
      const { attack } = (await import(join(folder, file))) as { attack: Attack };
      const blocks = [attack.code].flat().map(program);
      return { ...attack, name: file.slice(0, -'.ts'.length), blocks };
    }),
  );
}

/** With the helpers in front, and ending with 0 whatever happens in it: a failing block would be the last. */
function program(code: string): string {
  const lines = code.split('\n').map((line) => (line === '' ? '' : `    ${line}`));
  return ['from attack import *', 'try:', ...lines, 'except Exception:', '    traceback.print_exc()', ''].join('\n');
}

const shared = ['attack.py', 'neighbour.py', 'canary.py', 'weak.py', 'network.py'] as const;

/** The programs that the attacks share, by name. */
export async function helpers(): Promise<Readonly<Record<(typeof shared)[number], Buffer>>> {
  const read = async (name: string) => [name, await readFile(join(import.meta.dirname, name))] as const;
  return Object.fromEntries(await Promise.all(shared.map(read))) as Record<(typeof shared)[number], Buffer>;
}

/** What an attack printed last, or an error with all that it said. */
export function observationIn(said: string, attack: string, where: string): Observation {
  const line = said
    .split('\n')
    .findLast((one) => one.startsWith('OBSERVED '))
    ?.slice('OBSERVED '.length);
  if (line === undefined) throw new Error(`${attack} observed nothing in ${where}; it said:\n${said}`);
  return JSON.parse(line) as Observation;
}

export const runtimes: readonly Runtime[] = ['runc', 'gvisor'];
