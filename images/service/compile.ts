import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

/**
 * Loads what the services load, so that Node's cache of compiled code is in the image and a start compiles nothing.
 * The programs themselves are left out: to load one is to run it.
 */
const programs = /(^|-|\/)(main|healthy|generate|compile)\.ts$/;
const folders = ['contract', 'outside', 'record', 'policies', 'producer', 'executor-worker', 'notary'];

for (const folder of folders) {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'));
  for (const file of files.filter((name) => !programs.test(name))) {
    try {
      await import(pathToFileURL(join(process.cwd(), folder, file)).href);
    } catch (error) {
      // Only speed is lost here; the service that needs the file will say so itself.
      console.error(`not compiled: ${folder}/${file}: ${String(error)}`);
    }
  }
}
process.exit();
