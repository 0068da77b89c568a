import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { cp, mkdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type Argv, must } from '@hotcell/setup/command.ts';
import { silent } from '@hotcell/setup/progress.ts';
import { checkout } from '@hotcell/setup/settings/installation.ts';
import { withLock } from '@hotcell/setup/settings/installation-lock.ts';
import type { Bed } from './bed.ts';

const pinned = join(checkout, 'test/mcp/pinned');

/** MCP's own tools, as pinned in test/mcp/pinned, which the tests' installation keeps for the next time. */
export async function mcpTools({ installation }: Bed): Promise<{ conformance: Argv; inspector: Argv }> {
  const lock = readFileSync(join(pinned, 'package-lock.json'));
  const name = createHash('sha256').update(lock).digest('hex').slice(0, 16);
  const folder = join(installation.home, 'tools', `mcp-${name}`);
  await withLock(`${folder}.lock`, silent, () => install(folder));
  const program = (file: string): Argv => [process.execPath, join(folder, 'node_modules/@modelcontextprotocol', file)];
  return {
    conformance: program('conformance/dist/index.js'),
    inspector: program('inspector/clients/launcher/build/index.js'),
  };
}

async function install(folder: string): Promise<void> {
  if (existsSync(folder)) return;
  const half = `${folder}.half`;
  await rm(half, { recursive: true, force: true });
  await mkdir(half, { recursive: true });
  for (const file of ['package.json', 'package-lock.json']) await cp(join(pinned, file), join(half, file));
  await must(['npm', 'ci', '--ignore-scripts', '--prefer-offline', '--no-audit', '--no-fund'], { cwd: half });
  await rename(half, folder);
}
