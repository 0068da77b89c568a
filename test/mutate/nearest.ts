import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import type { Change } from './changes.ts';

/** Rooms whose sources are changed. `setup` is left out: what installs a machine shows on a fresh one alone. */
export const rooms = [
  'contract',
  'outside',
  'record',
  'policies',
  'producer',
  'executor-worker',
  'keeper',
  'notary',
  'clients',
];

/** Those that build images, start whole installations, or take minutes: too much for one mutant. */
const tooLong = /^test\/(unit|images|soak)\/|^test\/faults\/(engine|valkey|store|disk|mixed-load)|up-and-down/;
/** Checks of the checkout itself, not of what it does. */
const ofTheTree = /^test\/unit\/(check|docs)\//;

export interface TestFiles {
  /** Unit tests that reach a source file, the closest first. */
  unit: (change: Pick<Change, 'file'>) => string[];
  /** System tests that reach it, those first that speak most of what was changed. */
  system: (change: Pick<Change, 'file' | 'what'>) => string[];
}

/** Which tests reach a source file by imports, or by starting a process from it. */
export function testFilesOf(root: string): TestFiles {
  const files = [...rooms, 'test'].flatMap((room) =>
    globSync(`${room}/**/*.ts`, { cwd: root, exclude: (name) => name === 'node_modules' }),
  );
  const importers = new Map<string, string[]>();
  const packages = packagesOf(root);
  const text = new Map(files.map((file) => [file, readFileSync(join(root, file), 'utf8')]));
  for (const file of files)
    for (const to of leadsTo(root, file, text.get(file) ?? '', packages))
      importers.set(to, [...(importers.get(to) ?? []), file]);
  /** The test files that reach a source, and in how many steps. */
  const reach = (source: string): [file: string, steps: number][] => {
    const distance = new Map([[source, 0]]);
    for (const [file, steps] of distance)
      for (const importer of importers.get(file) ?? []) if (!distance.has(importer)) distance.set(importer, steps + 1);
    return [...distance].filter(([file]) => file.endsWith('.test.ts'));
  };
  return {
    unit: ({ file: source }) =>
      reach(source)
        .filter(([file]) => file.startsWith('test/unit/') && !ofTheTree.test(file))
        .toSorted(([a, near], [b, far]) => near - far || a.localeCompare(b))
        .map(([file]) => file),
    system({ file: source, what }) {
      const texts = reach(source)
        .filter(([file]) => !tooLong.test(file))
        .map(([file, steps]) => ({ file, steps, text: `${file} ${text.get(file) ?? ''}`.toLowerCase() }));
      const rare = (word: string) => Math.log(texts.length / texts.filter((one) => one.text.includes(word)).length);
      const words = wordsIn(`${source} ${what}`).map((word) => ({ word, weight: rare(word) }));
      const score = (said: string) =>
        words.reduce((sum, { word, weight }) => sum + (said.includes(word) ? weight : 0), 0);
      return texts
        .map((one) => ({ ...one, score: score(one.text) - one.steps }))
        .toSorted((a, b) => b.score - a.score || a.file.localeCompare(b.file))
        .map(({ file }) => file);
    },
  };
}

/** The words that a path and a piece of code are made of. */
const wordsIn = (text: string) => [
  ...new Set([...text.matchAll(/[A-Z]?[a-z]{3,}/g)].map(([word]) => word.toLowerCase())),
];

function packagesOf(root: string): ReadonlyMap<string, string> {
  const read = (path: string) => JSON.parse(readFileSync(join(root, path, 'package.json'), 'utf8')) as Package;
  return new Map(read('').workspaces?.map((room) => [read(room).name, room]));
}
interface Package {
  name: string;
  workspaces?: string[];
}

const specifiers = /^\s*(?:import|export)\s+(?!type\b)[^;'"]*?from\s+'([^']+)'|\bimport\(\s*'([^']+)'/gm;
const startedFiles = /'([\w./-]+\.ts)'/g;

/** What a file imports for more than its types, and the files that it starts as processes. */
function leadsTo(root: string, file: string, text: string, packages: ReadonlyMap<string, string>): Set<string> {
  const found = new Set<string>();
  for (const [, from, dynamic] of text.matchAll(specifiers)) {
    const specifier = from ?? dynamic ?? '';
    if (specifier.startsWith('.')) found.add(normalize(join(dirname(file), specifier)));
    const [scope, name, ...path] = specifier.split('/');
    const room = packages.get(`${scope}/${name}`);
    if (room) found.add(join(room, ...path));
  }
  for (const [, path = ''] of text.matchAll(startedFiles))
    if (!path.startsWith('.') && existsSync(join(root, path))) found.add(path);
  return found;
}
