import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { houseTroubles, sourceFiles } from './house.ts';

/** `npm run check`: everything that can be checked without running the code, in parallel. */
const root = join(import.meta.dirname, '../..');
const bin = join(root, 'node_modules/.bin');

interface Finding {
  name: string;
  ok: boolean;
  seconds: number;
  text: string;
}

function command(name: string, program: string, ...args: string[]): Promise<Finding> {
  const begun = performance.now();
  return new Promise((resolve, reject) => {
    const child = spawn(join(bin, program), args, {
      cwd: root,
      env: { ...process.env, PATH: `${bin}:${process.env['PATH']}` },
    });
    let text = '';
    child.stdout.on('data', (data: Buffer) => (text += data.toString()));
    child.stderr.on('data', (data: Buffer) => (text += data.toString()));
    child.on('error', reject);
    child.on('close', (code) => resolve({ name, ok: code === 0, seconds: (performance.now() - begun) / 1000, text }));
  });
}

function house(): Finding {
  const begun = performance.now();
  const troubles = houseTroubles(sourceFiles(root));
  const seconds = (performance.now() - begun) / 1000;
  return { name: 'size and names of files', ok: troubles.length === 0, seconds, text: troubles.join('\n') };
}

const findings = await Promise.all([
  command('types', 'tsc', '--noEmit', '-p', '.'),
  command('lint and doors', 'oxlint', '--type-aware', '--deny-warnings'),
  command('format', 'biome', 'format', '.'),
  command('unused code', 'knip', '--no-progress', '--exclude', 'binaries'),
  // Each room on its own: it may import only what its manifest lists, and must not contain code that only tests use.
  command('direction of imports', 'knip', '--strict', '--no-progress', '--exclude', 'dependencies'),
]);
findings.push(house());
for (const { name, ok, seconds, text } of findings) {
  process.stdout.write(`${ok ? 'ok  ' : 'FAIL'} ${name} (${seconds.toFixed(1)} s)\n`);
  if (!ok) process.stdout.write(`${text.trimEnd()}\n`);
}
process.exitCode = findings.every((finding) => finding.ok) ? 0 : 1;
