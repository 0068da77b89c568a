import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chmod, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { type Digest, hexOf } from '@hotcell/contract/digest.ts';
import { HotcellError } from '@hotcell/contract/errors.ts';
import { parseJsonAs } from '@hotcell/contract/parse.ts';
import { z } from 'zod';
import { command, must } from '../command.ts';
import { volumesOf } from '../images/image-engine.ts';
import type { SetupProgress } from '../progress.ts';
import { placesIn } from '../settings/installation.ts';

const Env = z.array(z.string()).nullable();

/**
 * What the container that unpacks may not have or use up: it writes as root into the folder of roots, and does nothing
 * else. Without the bound a header of an archive that says it is gigabytes long takes the host's memory.
 */
export const sealedUnpacking = [
  '--rm',
  '--interactive',
  '--network=none',
  '--read-only',
  '--user=0:0',
  '--cap-drop=ALL',
  '--cap-add=CHOWN',
  '--cap-add=DAC_OVERRIDE',
  '--cap-add=FOWNER',
  '--security-opt=no-new-privileges',
  '--memory=512m',
  '--memory-swap=512m',
  '--pids-limit=64',
  '--label=hotcell.managed=1',
  '--label=hotcell.role=service',
];

/** The folder of roots, which no other user of the host can look into: a root has an image's files with their owners. */
export async function ensureRootsFolder(home: string): Promise<string> {
  const { keeperRoots } = placesIn(home);
  await mkdir(keeperRoots, { recursive: true });
  await chmod(keeperRoots, 0o700);
  return keeperRoots;
}

/** Images as roots for the keeper's cells: each is unpacked once, from a container that is created and never started. */
export async function ensureRoots(
  home: string,
  keeperImage: string,
  images: Readonly<Record<string, { digest: Digest }>>,
  progress: SetupProgress,
): Promise<void> {
  const keeperRoots = await ensureRootsFolder(home);
  for (const [name, { digest }] of Object.entries(images)) {
    if (existsSync(join(keeperRoots, hexOf(digest), 'note.json'))) continue;
    await progress.step(`unpacking ${name} for cells`, () => unpack(keeperRoots, keeperImage, digest));
  }
}

/** Removes roots that no lock, no living cell and no recent run has. */
export async function collectRoots(
  home: string,
  keeperImage: string,
  images: Readonly<Record<string, { digest: Digest }>>,
): Promise<void> {
  const { keeperRoots, keeperFolder } = placesIn(home);
  const cells = join(keeperFolder, 'cells');
  await mkdir(cells, { recursive: true, mode: 0o711 });
  const told = { folder: '/roots', cells: '/cells', locked: Object.values(images).map(({ digest }) => digest) };
  const volumes = ['--volume', `${keeperRoots}:/roots`, '--volume', `${cells}:/cells:ro`];
  const program = ['keeper/collect-roots-main.ts', JSON.stringify(told)];
  await must(['docker', 'run', ...sealedUnpacking, ...volumes, keeperImage, ...program]);
}

async function unpack(folder: string, keeperImage: string, image: Digest): Promise<void> {
  const inspected = await command(['docker', 'image', 'inspect', '--format', '{{json .Config.Env}}', image]);
  if (inspected.code !== 0) throw notThere(image);
  const env = parseJsonAs(Env, inspected.stdout, 'its variables');
  const told = JSON.stringify({ folder: '/roots', image, env, volumes: await volumesOf(image) });
  const labels = ['--label', 'hotcell.managed=1', '--label', 'hotcell.role=build'] as const;
  // The image need not have this program: the container never starts.
  const container = (await must(['docker', 'create', ...labels, '--network', 'none', image, '/never'])).trim();
  try {
    const program = ['keeper/install-root-main.ts', told];
    await piped(
      ['docker', 'export', container],
      ['docker', 'run', ...sealedUnpacking, '--volume', `${folder}:/roots`, keeperImage, ...program],
    );
  } finally {
    await must(['docker', 'rm', '--force', container]);
  }
}

const notThere = (image: Digest) =>
  new HotcellError(
    'image_missing',
    `The image ${image} is in the lock, but neither unpacked nor in the engine. Build it again, or import it with \`./hotcell image import\`.`,
  );

/** One program's output as the other's input. */
async function piped(from: readonly [string, ...string[]], to: readonly [string, ...string[]]): Promise<void> {
  const source = spawn(from[0], from.slice(1), { stdio: ['ignore', 'pipe', 'pipe'] });
  const sink = spawn(to[0], to.slice(1), { stdio: [source.stdout, 'ignore', 'pipe'] });
  // The sink has its own copy; with this one it would never hear that it is the only reader.
  source.stdout.destroy();
  let said = '';
  for (const child of [source, sink])
    child.stderr.on('data', (bytes: Buffer) => (said += bytes.toString('utf8').slice(0, 4000)));
  const codes = (await Promise.all([once(source, 'close'), once(sink, 'close')])).map(
    ([code]) => code as number | null,
  );
  if (codes.some((code) => code !== 0))
    throw new HotcellError('internal', `\`${to.join(' ')}\` failed with exit code ${codes[1]}:\n${said.trim()}`);
}
