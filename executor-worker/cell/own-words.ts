import { basename } from 'node:path';
import type { PostureRecord } from '@hotcell/contract/frames-posture.ts';
import type { PostureFacts } from '@hotcell/contract/posture.ts';
import type { MadeCell } from './cell-maker.ts';

type Named = readonly [name: string, word: string | undefined];

/** Shorter words might mean something else where they occur. */
const shortest = 4;

/** What in a posture only this cell has, by name: without it, cells that are isolated alike have equal postures. */
export function ownWords(
  made: Pick<MadeCell, 'id' | 'uid' | 'name' | 'plan'>,
  records: readonly PostureRecord[],
  outside: PostureFacts,
): Record<string, string> {
  const named: Named[] = [
    ['cell', made.id],
    ['name', made.name],
    ['uid', String(made.uid)],
    ['container', wordIn(outside['container'])],
    ['bundle', wordIn(outside['bundle'])],
    // Under gVisor only the host says where the cell's user namespace begins.
    ['base', wordIn(outside['Uid'])?.split(' ')[0]],
    ...records.flatMap((record) => wordsOf(record, made.plan.env)),
    ...made.plan.mounts.map(({ source, target }) => [inputName(target), basename(source)] as const),
  ];
  const own = new Map<string, string>();
  for (const [name, word] of named) if (word !== undefined && word.length >= shortest) own.set(word, name);
  return Object.fromEntries([...own].map(([word, name]) => [name, word]));
}

const inputName = (target: string) => (target === '/inputs' ? 'inputs' : `input.${basename(target)}`);

function wordsOf(record: PostureRecord, env: Readonly<Record<string, string>>): Named[] {
  if (record.key === 'uidMap') return [['base', record.line.trim().split(/\s+/)[1]]];
  if (record.key === 'env' && Object.hasOwn(env, record.name)) return [[`env.${record.name}`, record.sha256]];
  return record.key === 'mount' && record.point === '/' ? layersIn(record.superOptions) : [];
}

/** The layer that an engine makes for each container, and the link that it has to it. */
function layersIn(superOptions: string): Named[] {
  const options = new Map(superOptions.split(',').map((one) => one.split('=', 2) as [string, string | undefined]));
  const upper = options.get('upperdir');
  if (upper === undefined) return [];
  const link = options.get('lowerdir')?.split(':', 1)[0] ?? '';
  return [
    ['layer', basename(upper.replace(/\/[^/]*$/, ''))],
    ['layerLink', basename(link)],
  ];
}

function wordIn(fact: PostureFacts[string] | undefined): string | undefined {
  return typeof fact === 'string' ? fact.replace(/^sha256:/, '') : undefined;
}
