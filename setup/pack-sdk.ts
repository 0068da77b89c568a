import { copyFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { must } from './command.ts';
import { checkout } from './settings/installation.ts';

const packages = ['contract', 'clients/typescript'];

/** Node strips no types below node_modules, so the packages are compiled. Returns the paths of their tarballs. */
export async function packSdk(into: string): Promise<string[]> {
  const built = await mkdtemp(join(tmpdir(), 'hotcell-pack-'));
  try {
    const project = join(checkout, 'clients/typescript/tsconfig.pack.json');
    await must([join(checkout, 'node_modules/.bin/tsc'), '-p', project, '--outDir', built]);
    for (const folder of packages) {
      const manifest = await readFile(join(checkout, folder, 'package.json'), 'utf8');
      // The name that is imported keeps its .ts; the file behind it is the compiled one.
      await writeFile(join(built, folder, 'package.json'), manifest.replaceAll(/(: "\.\/.+)\.ts"/g, '$1.js"'));
      await copyFile(join(checkout, 'LICENSE'), join(built, folder, 'LICENSE'));
    }
    const folders = packages.map((folder) => join(built, folder));
    const names = await must(['npm', 'pack', '--silent', '--pack-destination', into, ...folders]);
    return names
      .trim()
      .split('\n')
      .map((name) => join(into, name));
  } finally {
    await rm(built, { recursive: true });
  }
}

if (import.meta.main) process.stdout.write(`${(await packSdk(resolve(process.argv[2] ?? '.'))).join('\n')}\n`);
