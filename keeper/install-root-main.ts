import { spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { Digest } from '@hotcell/contract/digest.ts';
import { parseJsonAs } from '@hotcell/contract/parse.ts';
import { z } from 'zod';
import { installRoot } from './finish-root.ts';
import { makeModesPlain } from './plain-modes.ts';
import { UnpackBounds } from './unpack-bounds.ts';

/** An export that takes longer hangs. What was unpacked goes with the next collection of roots. */
const mostMs = 30 * 60_000;

/**
 * Unpacks an image's files from stdin (an export of a container that never ran) as a root for cells. It runs in a
 * container without network that sees nothing but the folder of roots, because the archive is the image builder's.
 */
const Told = z.strictObject({
  folder: z.string().startsWith('/'),
  image: Digest,
  env: z.array(z.string()).nullable(),
  volumes: z.array(z.string()),
});
const { folder, image, env, volumes } = parseJsonAs(Told, process.argv[2] ?? '', 'the argument');

await installRoot(folder, async (made) => {
  const root = join(made, 'root');
  mkdirSync(root, { mode: 0o755 });
  // A cell has a /dev of its own, and no device of an image belongs on the host's disk.
  const all = ['--extract', '--numeric-owner', '--preserve-permissions', '--anchored', '--exclude=dev/*'];
  const { status, signal } = spawnSync('tar', [...all, '--directory', root], { stdio: 'inherit', timeout: mostMs });
  if (signal !== null)
    throw new Error(`tar did not unpack the image ${image} (${signal}): it had ${mostMs / 60_000} minutes. Try again.`);
  if (status !== 0) throw new Error(`tar could not unpack the image ${image} (exit code ${status})`);
  new UnpackBounds().count(root);
  makeModesPlain(root);
  return { image, env: env ?? [], volumes };
});
