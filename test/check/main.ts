import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { violations } from './import-direction.ts';

/** `npm run check`: everything that can be said of the code without running it, side by side. */
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

function direction(): Finding {
  const begun = performance.now();
  const found = violations(root);
  return {
    name: 'import direction',
    ok: found.length === 0,
    seconds: (performance.now() - begun) / 1000,
    text: found.join('\n'),
  };
}

const findings = await Promise.all([
  command('types', 'tsc', '--noEmit', '-p', '.'),
  command('lint', 'oxlint', '--type-aware', '--deny-warnings'),
  command('format', 'biome', 'format', '.'),
  command(
    'unused code and dependencies',
    'knip',
    '--no-progress',
    '--include',
    'files,dependencies,unlisted,exports,types',
  ),
]);
findings.push(direction());
for (const { name, ok, seconds, text } of findings) {
  process.stdout.write(`${ok ? 'ok  ' : 'FAIL'} ${name} (${seconds.toFixed(1)} s)\n`);
  if (!ok) process.stdout.write(`${text.trimEnd()}\n`);
}
process.exitCode = findings.every((finding) => finding.ok) ? 0 : 1;
