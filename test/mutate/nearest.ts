import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';

/** Rooms whose sources are changed. */
export const rooms = [
  'contract',
  'outside',
  'record',
  'policies',
  'producer',
  'executor-worker',
  'notary',
  'setup',
  'clients',
] as const;

/** Those that would build images, start whole installations, or take minutes: too much for one mutant. */
const tooLong = /^test\/(unit|e2e|images|soak)\/|^test\/faults\/(engine|valkey|store|disk|mixed-load)|up-and-down/;
/** Checks of the checkout itself, not of what it does. */
const ofTheTree = /^test\/unit\/(check|docs)\//;

export interface TestFiles {
  /** Unit tests that reach a source file, the closest first. */
  unit: (source: string) => string[];
  /** System tests that reach it, the closest first. */
  system: (source: string) => string[];
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
  const reach = (source: string, wanted: (file: string) => boolean): string[] => {
    const distance = new Map([[source, 0]]);
    for (const [file, steps] of distance)
      for (const importer of importers.get(file) ?? []) if (!distance.has(importer)) distance.set(importer, steps + 1);
    const words = source.replace(/\.ts$/, '').split(/[/-]/);
    const kin = (file: string) => words.filter((word) => file.includes(word)).length;
    return [...distance]
      .filter(([file]) => file.endsWith('.test.ts') && wanted(file))
      .toSorted(([a, near], [b, far]) => near - far || kin(b) - kin(a) || a.localeCompare(b))
      .map(([file]) => file);
  };
  return {
    unit: (source) => reach(source, (file) => file.startsWith('test/unit/') && !ofTheTree.test(file)),
    system: (source) => reach(source, (file) => !tooLong.test(file)),
  };
}

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
