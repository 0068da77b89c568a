import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Attack, Observation, Runtime } from './attack.ts';

const folder = join(import.meta.dirname, '../attacks');

export interface NamedAttack extends Attack {
  /** The file's name without its ending. */
  name: string;
  /** The programs, preceded by the helpers. */
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

/** These and no others, in this order. */
export async function attacksNamed(...names: readonly string[]): Promise<NamedAttack[]> {
  const all = new Map((await loadAttacks()).map((attack) => [attack.name, attack]));
  return names.map((name) => {
    const attack = all.get(name);
    if (!attack) throw new Error(`There is no attack ${name} in ${folder}.`);
    return attack;
  });
}

/** Preceded by the helpers, and always exiting with 0, since no block runs after a failed one. */
function program(code: string): string {
  const lines = code.split('\n').map((line) => (line === '' ? '' : `    ${line}`));
  return ['from attack import *', 'try:', ...lines, 'except Exception:', '    traceback.print_exc()', ''].join('\n');
}

const shared = ['attack.py', 'neighbour.py', 'canary.py', 'weak.py', 'network.py'] as const;

/** The attacks' shared programs, by name. */
export async function helpers(): Promise<Readonly<Record<(typeof shared)[number], Buffer>>> {
  const read = async (name: string) => [name, await readFile(join(import.meta.dirname, name))] as const;
  return Object.fromEntries(await Promise.all(shared.map(read))) as Record<(typeof shared)[number], Buffer>;
}

/** The last observation that an attack printed; throws with all its output if there is none. */
export function observationIn(said: string, attack: string, where: string): Observation {
  const line = said
    .split('\n')
    .findLast((one) => one.startsWith('OBSERVED '))
    ?.slice('OBSERVED '.length);
  if (line === undefined) throw new Error(`${attack} observed nothing in ${where}; it said:\n${said}`);
  return JSON.parse(line) as Observation;
}

export const runtimes: readonly Runtime[] = ['runc', 'gvisor'];
