import { globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';

/** What each room may import of ours. Dependencies point one way; producer and worker meet only in contract and outside. */
export const mayImport: Readonly<Record<string, readonly string[]>> = {
  contract: [],
  outside: ['contract'],
  record: ['contract', 'outside'],
  policies: ['contract'],
  setup: ['contract', 'outside', 'record'],
  producer: ['contract', 'outside', 'record', 'policies'],
  'executor-worker': ['contract', 'outside', 'record'],
  notary: ['contract', 'outside', 'record'],
  'clients/typescript': ['contract'],
  'clients/cli': ['contract', 'record', 'policies', 'setup', 'clients/typescript'],
};

/** Packages that go by another name than their room. */
const roomOf: Readonly<Record<string, string>> = { client: 'clients/typescript', cli: 'clients/cli' };

/** Each outside thing has one owner: whoever else needs it goes through that file. */
const owners: Readonly<Record<string, readonly string[]>> = {
  bullmq: ['outside/queue/queue.ts'],
  dockerode: ['outside/engine/engine.ts'],
  // Objects are everybody's; buckets and their rights are only the operator's.
  '@aws-sdk/client-s3': ['', '-admin', '-client', '-delete', '-errors', '-list', '-upload'].map(
    (part) => `outside/store/store${part}.ts`,
  ),
  pino: ['outside/process/log.ts'],
};

const specifiers = /(?:\bfrom\s+|\bimport\s+|\bimport\(\s*)['"]([^'"]+)['"]/g;

/** The room that an import leads to, or the package it names. */
function target(file: string, specifier: string): string {
  if (specifier.startsWith('.')) return roomAt(normalize(join(dirname(file), specifier)));
  if (!specifier.startsWith('@hotcell/')) return specifier;
  const name = specifier.split('/')[1] ?? '';
  return roomOf[name] ?? name;
}

function roomAt(path: string): string {
  const [first = '', second = ''] = path.split('/');
  return first === 'clients' ? `${first}/${second}` : first;
}

/** One line for each import that goes where it must not. */
export function violationsIn(file: string, text: string): string[] {
  const room = roomAt(file);
  const allowed = mayImport[room];
  if (!allowed) return [];
  const found: string[] = [];
  for (const [, specifier = ''] of text.matchAll(specifiers)) {
    const to = target(file, specifier);
    if (to in mayImport && to !== room && !allowed.includes(to))
      found.push(`${file}: ${room} must not import ${to} (${specifier})`);
    const owner = owners[to];
    if (owner && !owner.includes(file)) found.push(`${file}: only ${owner.join(' and ')} imports ${to}`);
    if (['test', 'bench'].includes(to)) found.push(`${file}: ${room} must not import ${to}`);
  }
  return found;
}

export function violations(root: string): string[] {
  return Object.keys(mayImport)
    .flatMap((room) => globSync(`${room}/**/*.ts`, { cwd: root, exclude: (name) => name === 'node_modules' }))
    .flatMap((file) => violationsIn(file, readFileSync(join(root, file), 'utf8')));
}
