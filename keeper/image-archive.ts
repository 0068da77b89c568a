import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { Digest, sha256 } from '@hotcell/contract/digest.ts';
import { HotcellError } from '@hotcell/contract/errors.ts';
import { parseJsonAs } from '@hotcell/contract/parse.ts';
import { z } from 'zod';
import { openBelow } from './below.ts';

/** An image in an unpacked archive: what it says of itself, and its layers from the lowest up. */
export interface ArchivedImage {
  /** The digest of its configuration, which an engine calls the image's id. */
  image: Digest;
  env: readonly string[];
  volumes: readonly string[];
  layers: readonly ArchivedLayer[];
}

interface ArchivedLayer {
  /** The file's steps below the archive's folder. */
  steps: readonly string[];
  /** The digest of its tar archive, uncompressed. The configuration, and so the image's digest, binds it. */
  diffId: Digest;
}

const mostJson = 4 * 1024 * 1024;
const mostNested = 4;

const Config = z.looseObject({
  os: z.string().optional(),
  architecture: z.string().optional(),
  config: z
    .looseObject({
      Env: z.array(z.string()).nullish(),
      Volumes: z.record(z.string(), z.unknown()).nullish(),
    })
    .nullish(),
  rootfs: z.looseObject({ diff_ids: z.array(Digest).max(512) }),
});
/** `docker save` and skopeo's docker-archive. */
const Saved = z.array(z.looseObject({ Config: z.string(), Layers: z.array(z.string()).max(512) }));
const Descriptor = z.looseObject({
  digest: Digest,
  platform: z.looseObject({ os: z.string(), architecture: z.string() }).optional(),
});
const Index = z.looseObject({ manifests: z.array(Descriptor).max(512) });
const Manifest = z.looseObject({ config: Descriptor, layers: z.array(Descriptor).max(512) });

const refuse = (message: string) => new HotcellError('invalid', message);

/** The one image of an archive in this machine's architecture. Every file is opened without following a link. */
export function imageIn(folder: string, architecture: string): ArchivedImage {
  const saved = readBelow(folder, ['manifest.json']);
  return saved === undefined ? ofLayout(folder, architecture) : ofSaved(folder, saved, architecture);
}

function ofSaved(folder: string, text: Buffer, architecture: string): ArchivedImage {
  const [one, ...others] = parseJsonAs(Saved, text.toString(), 'manifest.json');
  if (one === undefined || others.length > 0)
    throw refuse(`The archive has ${others.length + (one ? 1 : 0)} images. Save one image alone.`);
  return imageOf(mustRead(folder, stepsOf(one.Config)), one.Layers.map(stepsOf), architecture);
}

/** The layout of the OCI: an index of manifests, each by its digest. */
function ofLayout(folder: string, architecture: string): ArchivedImage {
  let text = mustRead(folder, ['index.json']);
  for (let nested = 0; nested < mostNested; nested++) {
    const parsed = JSON.parse(text.toString()) as unknown;
    const manifest = Manifest.safeParse(parsed);
    if (manifest.success) {
      const { config, layers } = manifest.data;
      return imageOf(
        blob(folder, config.digest),
        layers.map(({ digest }) => blobSteps(digest)),
        architecture,
      );
    }
    const { manifests } = parseJsonAs(Index, text.toString(), 'an index of the archive');
    const fitting = manifests.filter(
      ({ platform }) => platform === undefined || (platform.os === 'linux' && platform.architecture === architecture),
    );
    const [one, ...others] = fitting;
    if (one === undefined || others.length > 0)
      throw refuse(`The archive has ${fitting.length} images for linux/${architecture}, and one is wanted.`);
    text = blob(folder, one.digest);
  }
  throw refuse(`The archive's indexes are nested deeper than ${mostNested}.`);
}

function imageOf(text: Buffer, layers: readonly (readonly string[])[], architecture: string): ArchivedImage {
  const { os, architecture: of, config, rootfs } = parseJsonAs(Config, text.toString(), "the image's configuration");
  if ((os ?? 'linux') !== 'linux' || (of ?? architecture) !== architecture)
    throw refuse(`The image is for ${os}/${of}, and this machine is linux/${architecture}.`);
  if (layers.length !== rootfs.diff_ids.length)
    throw refuse(`The image has ${layers.length} layers, and its configuration names ${rootfs.diff_ids.length}.`);
  return {
    image: sha256(text),
    env: config?.Env ?? [],
    volumes: Object.keys(config?.Volumes ?? {}),
    layers: rootfs.diff_ids.map((diffId, index) => ({ diffId, steps: layers[index] ?? [] })),
  };
}

const blobSteps = (digest: Digest) => ['blobs', ...digest.split(':')];

function blob(folder: string, digest: Digest): Buffer {
  const text = mustRead(folder, blobSteps(digest));
  if (sha256(text) === digest) return text;
  throw refuse(`The archive's blob ${digest} has other bytes than its name says.`);
}

function stepsOf(path: string): string[] {
  const steps = path.split('/');
  if (steps.some((step) => step === '' || step === '.' || step === '..'))
    throw refuse(`The archive names a file ${JSON.stringify(path)}, which does not lie in it.`);
  return steps;
}

function mustRead(folder: string, steps: readonly string[]): Buffer {
  const bytes = readBelow(folder, steps);
  if (bytes) return bytes;
  throw refuse(`The archive has no file ${steps.join('/')}: it is neither a \`docker save\` nor an OCI layout.`);
}

function readBelow(folder: string, steps: readonly string[]): Buffer | undefined {
  const fd = openFile(folder, steps);
  if (fd === undefined) return undefined;
  try {
    const { size } = fstatSync(fd);
    if (size > mostJson) throw refuse(`The archive's file ${steps.join('/')} is larger than ${mostJson} bytes.`);
    const bytes = Buffer.alloc(size);
    readSync(fd, bytes, 0, size, 0);
    return bytes;
  } finally {
    closeSync(fd);
  }
}

/** Undefined if there is none. */
export function openFile(folder: string, steps: readonly string[]): number | undefined {
  try {
    const above = openBelow(folder, steps.slice(0, -1));
    try {
      const fd = openSync(
        `/proc/self/fd/${above}/${steps.at(-1)}`,
        constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK,
      );
      if (fstatSync(fd).isFile()) return fd;
      closeSync(fd);
      return undefined;
    } finally {
      closeSync(above);
    }
  } catch {
    return undefined;
  }
}
