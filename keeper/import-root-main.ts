import { closeSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { HotcellError, messageOf } from '@hotcell/contract/errors.ts';
import { parseJsonAs } from '@hotcell/contract/parse.ts';
import { z } from 'zod';
import { installRoot } from './finish-root.ts';
import { imageIn, openFile } from './image-archive.ts';
import { mergeLayer } from './merge-layer.ts';
import { UnpackBounds } from './unpack-bounds.ts';
import { unpackLayer, untar } from './unpack-layer.ts';

/**
 * Unpacks an archive from stdin (`docker save`, or an OCI layout) as a root for cells, without an engine. Prints the root's
 * note. The archive is the image builder's, so what starts this program lets it see nothing but the folder of roots, and
 * bounds its memory: `image import` with a container, a host without Docker with systemd-run.
 */
const Told = z.strictObject({ folder: z.string().startsWith('/') });
const architectures: Readonly<Partial<Record<NodeJS.Architecture, string>>> = { x64: 'amd64', arm64: 'arm64' };

/** An archive that takes longer is no image; what it left goes with the next collection of roots. */
const mostMinutes = 30;
setTimeout(() => {
  process.stderr.write(`The archive was not unpacked within ${mostMinutes} minutes. Import a smaller image.\n`);
  process.exit(1);
}, mostMinutes * 60_000).unref();

try {
  const { folder } = parseJsonAs(Told, process.argv[2] ?? '', 'the argument');
  const note = await installRoot(folder, async (made) => {
    const [archive, root] = ['archive', 'root'].map((name) => join(made, name)) as [string, string];
    mkdirSync(archive, { mode: 0o700 });
    mkdirSync(root, { mode: 0o755 });
    await untar(process.stdin, archive);
    const { layers, ...words } = imageIn(archive, architectures[process.arch] ?? process.arch);
    const bounds = new UnpackBounds();
    for (const [index, { steps, diffId }] of layers.entries()) {
      const fd = openFile(archive, steps);
      if (fd === undefined) throw new HotcellError('invalid', `The archive has no layer ${steps.join('/')}.`);
      const layer = join(made, `layer-${index}`);
      mkdirSync(layer, { mode: 0o755 });
      try {
        await unpackLayer(fd, layer, diffId);
      } finally {
        closeSync(fd);
      }
      bounds.count(layer);
      mergeLayer(layer, root);
      rmSync(layer, { recursive: true });
    }
    rmSync(archive, { recursive: true });
    return words;
  });
  process.stdout.write(`${JSON.stringify(note)}\n`);
} catch (error) {
  process.stderr.write(`${messageOf(error)}\n`);
  process.exitCode = 1;
}
