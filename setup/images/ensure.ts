import { mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { canonical, type Digest, sha256 } from '@hotcell/contract/digest.ts';
import type { LockedImage } from '@hotcell/contract/images-lock.ts';
import type { Progress } from '../progress.ts';
import { textIfThere, writeWhole } from '../settings/config-file.ts';
import { checkout } from '../settings/installation.ts';
import { baseRecipe, makeBase } from './base.ts';
import { catalogue, lanesOf, type ShippedImage } from './catalogue.ts';
import { isTakenOut, takeOutInit } from './cell-init.ts';
import { contentTag, contextFiles, refOf } from './context.ts';
import { build, certificates, digestOfRef, engineArchitecture, presentImages, type Say } from './docker.ts';
import { lockImage, readImagesLock, reportPath } from './lock.ts';
import { scanImage } from './scan.ts';
import { withScratch } from './scratch.ts';

export interface EnsuredImage {
  id: Digest;
  digest: Digest;
  ref: string;
}

/**
 * Have these images in the engine and in this installation's lock. An image is named by what it is made of: one that
 * is there is never built again, and a build that was interrupted at any point is taken up by the next call.
 */
export async function ensureImages<Name extends ShippedImage>(
  installation: { home: string },
  names: readonly Name[],
  progress: Progress,
): Promise<Record<Name, EnsuredImage>> {
  const [architecture, present] = await Promise.all([engineArchitecture(), presentImages()]);
  return await withScratch(installation.home, async (scratch) => {
    const work = new Ensuring({
      home: installation.home,
      architecture,
      present,
      progress,
      scratch,
      certificates: await certificates(scratch),
    });
    const lanes = lanesOf(names).map(async (lane) => {
      for (const name of lane) await work.ensure(name);
    });
    const ended = await Promise.allSettled(lanes);
    for (const lane of ended) if (lane.status === 'rejected') throw lane.reason;
    const made = await Promise.all(names.map(async (name) => [name, await work.ensure(name)] as const));
    return Object.fromEntries(made) as Record<Name, EnsuredImage>;
  });
}

interface Surroundings {
  home: string;
  architecture: string;
  present: ReadonlyMap<string, Digest>;
  progress: Progress;
  scratch: string;
  certificates: string;
}

class Ensuring {
  readonly #around: Surroundings;
  readonly #images = new Map<ShippedImage, Promise<EnsuredImage>>();
  readonly #locked = new Map<ShippedImage, Promise<void>>();
  #writing: Promise<void> = Promise.resolve();

  constructor(around: Surroundings) {
    this.#around = around;
  }

  /** In the engine, looked through and in the lock. */
  async ensure(name: ShippedImage): Promise<EnsuredImage> {
    const image = await this.#image(name);
    let locked = this.#locked.get(name);
    if (!locked) {
      locked = this.#register(name, image);
      this.#locked.set(name, locked);
    }
    await locked;
    return image;
  }

  #image(name: ShippedImage): Promise<EnsuredImage> {
    const known = this.#images.get(name);
    if (known) return known;
    const image = this.#find(name);
    this.#images.set(name, image);
    return image;
  }

  async #find(name: ShippedImage): Promise<EnsuredImage> {
    const { architecture, present, progress } = this.#around;
    const { parents, context } = catalogue[name];
    const stands: Record<string, EnsuredImage> = {};
    for (const [argument, parent] of Object.entries(parents)) stands[argument] = await this.#image(parent);
    const files = await contextFiles(join(checkout, context.root), context.paths);
    const digests = Object.fromEntries(Object.entries(stands).map(([argument, { digest }]) => [argument, digest]));
    const recipe = name === 'base' ? { ...files, recipe: canonical(baseRecipe) } : files;
    const ref = refOf(name, contentTag({ name, architecture, files: recipe, parents: digests }));
    const there = present.get(ref);
    if (there) return { id: there, digest: there, ref };
    await progress.step(`image ${name}`, async (say) => await this.#build(name, ref, stands, say));
    const digest = await digestOfRef(ref);
    return { id: digest, digest, ref };
  }

  async #build(name: ShippedImage, ref: string, stands: Record<string, EnsuredImage>, say: Say): Promise<void> {
    const { scratch } = this.#around;
    if (name === 'base') return await makeBase(ref, scratch, this.#around.certificates, say);
    await build({
      name,
      dockerfile: join(checkout, 'images', name, 'Dockerfile'),
      context: join(checkout, catalogue[name].context.root),
      arguments: Object.fromEntries(Object.entries(stands).map(([argument, image]) => [argument, image.ref])),
      to: { ref },
      certificates: this.#around.certificates,
      say,
    });
  }

  async #register(name: ShippedImage, image: EnsuredImage): Promise<void> {
    const { home, progress } = this.#around;
    const before = (await readImagesLock(home))[name];
    const report = await textIfThere(reportPath(home, name));
    const isReported = before?.digest === image.digest && report !== undefined && before.packages === sha256(report);
    if (isReported && (name !== 'cell-init' || (await isTakenOut(home, before.files)))) return;
    const locked = await progress.step(`contents of ${name}`, async (say) => await this.#lookThrough(name, image, say));
    // The lanes share one lock file: they write one after the other.
    this.#writing = this.#writing.then(() => lockImage(home, name, locked));
    await this.#writing;
  }

  async #lookThrough(name: ShippedImage, image: EnsuredImage, say: Say): Promise<LockedImage> {
    const { home, scratch } = this.#around;
    const more = { scratch, certificates: this.#around.certificates, say };
    const tools = (await this.#image('tools')).ref;
    const { ref, digest } = image;
    const report = `${canonical(await scanImage({ name, ref, digest }, { ...more, tools }))}\n`;
    await mkdir(dirname(reportPath(home, name)), { recursive: true, mode: 0o755 });
    await writeWhole(reportPath(home, name), report, 0o644);
    const files = name === 'cell-init' ? { files: await takeOutInit(home, ref, more) } : {};
    return { ref, digest, kind: catalogue[name].kind, packages: sha256(report), ...files };
  }
}
