import { copyFile, mkdir, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { canonical, type Digest, hexOf, sha256 } from '@hotcell/contract/digest.ts';
import { HotcellError } from '@hotcell/contract/errors.ts';
import type { ImageReport } from '@hotcell/contract/image-report.ts';
import { ImageName, type LockedImage } from '@hotcell/contract/images-lock.ts';
import { nearest } from '@hotcell/contract/nearest.ts';
import { parseAs } from '@hotcell/contract/parse.ts';
import type { SetupProgress } from '../progress.ts';
import { checkout } from '../settings/installation.ts';
import { Builder, type Say } from './build.ts';
import { catalogue, isShipped } from './catalogue.ts';
import { refOf } from './context.ts';
import { nameImage, removeName, volumesOf } from './image-engine.ts';
import { ensureImages } from './ensure-images.ts';
import { lockImage, lockedImages, writeReport } from './images-lock-file.ts';
import { scanImage } from './scan-image.ts';
import { withScratch } from './scratch.ts';

export interface OwnImageRequest {
  name: string;
  /** The image it is based on, by its name in this installation. */
  from: string;
  source: { requirements: string } | { dockerfile: string };
}

interface Parent {
  ref: string;
  digest: Digest;
}

/**
 * An image of the operator's own, built ahead of time and with network access, so that no run needs either. It is pinned
 * by its digest, and registered last, once its scan found it usable.
 */
export async function deriveImage(
  installation: { home: string },
  asked: OwnImageRequest,
  progress: SetupProgress,
): Promise<{ image: LockedImage; report: ImageReport }> {
  const { home } = installation;
  const name = newName(asked.name);
  const path = await sourceFile(asked.source);
  const parent = await parentImage(home, asked.from, progress);
  const { tools } = await ensureImages(installation, ['tools'], progress);
  return await withScratch(home, async (scratch) => {
    const builder = new Builder(scratch);
    const digest = await progress.step(`image ${name}`, async (say) =>
      'requirements' in asked.source
        ? await withPackages(name, path, { PARENT: parent.ref, TOOLS: tools.ref }, builder, say)
        : await ofDockerfile(name, path, { BASE: parent.ref, TOOLS: tools.ref }, builder, say),
    );
    // A build with network access is named after its result.
    const ref = refOf(name, hexOf(digest).slice(0, 20));
    await nameImage(digest, ref);
    const report = await progress.step(`scanning ${name}`, (say) =>
      scanImage({ name, ref, digest }, tools.ref, builder, say),
    );
    const problems = [...unusable(report), ...(await volumesOf(digest)).map(volumeProblem)];
    if (problems.length > 0) {
      await removeName(ref);
      throw new HotcellError('invalid', `The image ${name} was not registered: ${problems.join('; ')}.`);
    }
    const text = `${canonical(report)}\n`;
    const from = { name: asked.from, digest: parent.digest };
    const image: LockedImage = { ref, digest, kind: 'cell', packages: sha256(text), from };
    await writeReport(home, name, text);
    await lockImage(home, name, image);
    return { image, report };
  });
}

export function newName(asked: string): string {
  const name = parseAs(ImageName, asked, `the image name ${JSON.stringify(asked)}`);
  if (!isShipped(name)) return name;
  throw new HotcellError('invalid', `Hotcell ships an image named ${name}. Choose another name for yours.`);
}

async function sourceFile(source: OwnImageRequest['source']): Promise<string> {
  const path = resolve('requirements' in source ? source.requirements : source.dockerfile);
  const found = await stat(path).catch(() => undefined);
  if (found?.isFile()) return path;
  throw new HotcellError(
    'not_found',
    `Could not read ${path}. Name the Dockerfile or requirements file to build from.`,
  );
}

async function parentImage(home: string, name: string, progress: SetupProgress): Promise<Parent> {
  if (isShipped(name) && catalogue[name].kind !== 'service')
    return (await ensureImages({ home }, [name], progress))[name];
  const lock = await lockedImages(home);
  const image = lock[name];
  if (image && image.kind !== 'service') return image;
  const usable = Object.entries(lock).filter(([, { kind }]) => kind !== 'service');
  const names = [...new Set(['python', 'node', ...usable.map(([key]) => key)])];
  const near = nearest(name, names);
  const hint = near ? `Did you mean ${near}?` : `Known images: ${names.join(', ')}.`;
  throw new HotcellError('not_found', `--from ${name}: this installation has no such image. ${hint}`);
}

async function withPackages(
  name: string,
  requirements: string,
  images: { PARENT: string; TOOLS: string },
  builder: Builder,
  say: Say,
): Promise<Digest> {
  const context = join(builder.scratch, 'derived');
  await mkdir(context);
  await copyFile(requirements, join(context, 'requirements.txt'));
  const dockerfile = join(checkout, 'images/derived/Dockerfile');
  return await builder.image({ name, dockerfile, context, arguments: images }, say);
}

async function ofDockerfile(
  name: string,
  dockerfile: string,
  images: { BASE: string; TOOLS: string },
  builder: Builder,
  say: Say,
): Promise<Digest> {
  return await builder.image({ name, dockerfile, context: dirname(dockerfile), arguments: images }, say);
}

const some = (paths: readonly string[]) => `${paths.slice(0, 5).join(', ')}${paths.length > 5 ? ', …' : ''}`;

/** Programs that gain rights when they start, and volumes: no cell may have them. */
export function unusable(report: Pick<ImageReport, 'setuid' | 'capabilities'>): string[] {
  const problems: string[] = [];
  if (report.setuid.length > 0)
    problems.push(
      `it has setuid or setgid files (${some(report.setuid)}): end its Dockerfile with \`RUN find / -xdev -perm /6000 -type f -exec chmod a-s {} +\``,
    );
  if (report.capabilities.length > 0)
    problems.push(
      `files have capabilities (${some(report.capabilities)}): remove them with \`RUN setcap -r FILE\`, or copy the file, which drops them`,
    );
  return problems;
}

const volumeProblem = (path: string) =>
  `it declares the volume ${path}, which a cell cannot have: remove that VOLUME, or use another base image`;

/** Worth a warning, though harmless in a cell without network. */
export function remarks(report: Pick<ImageReport, 'compilers' | 'networkClients'>): string[] {
  const found: string[] = [];
  if (report.compilers.length > 0) found.push(`it has compilers: ${some(report.compilers)}`);
  if (report.networkClients.length > 0) found.push(`it has network clients: ${some(report.networkClients)}`);
  return found;
}
