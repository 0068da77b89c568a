import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

/**
 * Loads every module that the services load, so that the image contains Node's compile cache and a start compiles
 * nothing. The main files are left out, because loading one runs it.
 */
const programs = /(^|-|\/)(main|healthy|generate|compile)\.ts$/;
const folders = ['contract', 'mcp', 'outside', 'record', 'policies', 'producer', 'executor-worker', 'keeper', 'notary'];

for (const folder of folders) {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'));
  for (const file of files.filter((name) => !programs.test(name))) {
    try {
      await import(pathToFileURL(join(process.cwd(), folder, file)).href);
    } catch (error) {
      // Only speed is lost; the service that needs the file will report the error.
      console.error(`not compiled: ${folder}/${file}: ${String(error)}`);
    }
  }
}
process.exit();
