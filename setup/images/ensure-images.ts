import { join } from 'node:path';
import { canonical, type Digest, sha256 } from '@hotcell/contract/digest.ts';
import { HotcellError } from '@hotcell/contract/errors.ts';
import type { LockedImage } from '@hotcell/contract/images-lock.ts';
import type { SetupProgress } from '../progress.ts';
import { textIfThere } from '../settings/config-file.ts';
import { checkout } from '../settings/installation.ts';
import { baseRecipe, makeBase } from './base.ts';
import { Builder, type Say } from './build.ts';
import { catalogue, lanesOf, type ShippedImage } from './catalogue.ts';
import { isTakenOut, takeOutInit } from './cell-init.ts';
import { contentTag, contextFiles, refOf } from './context.ts';
import { discardImage, engineArchitecture, nameImage, presentImages } from './image-engine.ts';
import { lockImage, lockedImages, reportPath, writeReport } from './images-lock-file.ts';
import { scanImage } from './scan-image.ts';
import { withScratch } from './scratch.ts';

export interface EnsuredImage {
  id: Digest;
  digest: Digest;
  ref: string;
}

/**
 * Get these images into the engine and into this installation's lock. An image is named after its ingredients: one that
 * exists is never built again, and an interrupted build resumes with the next call.
 */
export async function ensureImages<Name extends ShippedImage>(
  installation: { home: string },
  names: readonly Name[],
  progress: SetupProgress,
): Promise<Record<Name, EnsuredImage>> {
  const { home } = installation;
  const [architecture, present] = await Promise.all([engineArchitecture(), presentImages()]);
  return await withScratch(home, async (scratch) => {
    const work = new Ensuring({ home, architecture, present, progress, builder: new Builder(scratch) });
    const lanes = lanesOf(names).map(async (lane) => {
      for (const name of lane) await work.ensure(name);
    });
    // If one lane fails, the other's work is kept.
    for (const lane of await Promise.allSettled(lanes)) if (lane.status === 'rejected') throw lane.reason;
    const made = await Promise.all(names.map(async (name) => [name, await work.ensure(name)] as const));
    return Object.fromEntries(made) as Record<Name, EnsuredImage>;
  });
}

interface Surroundings {
  home: string;
  architecture: string;
  present: ReadonlyMap<string, Digest>;
  progress: SetupProgress;
  builder: Builder;
}

interface Plan {
  ref: string;
  /** Build arguments: the images that this one is based on. */
  parents: Record<string, string>;
}

class Ensuring {
  readonly #around: Surroundings;
  readonly #images = new Map<ShippedImage, Promise<EnsuredImage>>();
  readonly #registered = new Map<ShippedImage, Promise<void>>();
  #writing: Promise<void> = Promise.resolve();

  constructor(around: Surroundings) {
    this.#around = around;
  }

  /** In the engine, scanned, and in the lock. */
  async ensure(name: ShippedImage): Promise<EnsuredImage> {
    const image = await this.#image(name);
    const registered = this.#registered.get(name) ?? this.#register(name, image);
    this.#registered.set(name, registered);
    await registered;
    return image;
  }

  #image(name: ShippedImage): Promise<EnsuredImage> {
    const image = this.#images.get(name) ?? this.#find(name);
    this.#images.set(name, image);
    return image;
  }

  async #find(name: ShippedImage): Promise<EnsuredImage> {
    const { present, progress } = this.#around;
    for (let attempt = 1; attempt <= 3; attempt++) {
      const plan = await this.#plan(name);
      const there = present.get(plan.ref);
      if (there) return { id: there, digest: there, ref: plan.ref };
      const digest = await progress.step(`image ${name}`, async (say) => await this.#build(name, plan, say));
      // A file that was edited during the build may or may not be in the image, but the image's name would promise it.
      if ((await this.#plan(name)).ref === plan.ref) {
        await nameImage(digest, plan.ref);
        return { id: digest, digest, ref: plan.ref };
      }
      await discardImage(digest);
      progress.note(`The sources of the image ${name} changed during its build; building it again.`);
    }
    throw new HotcellError(
      'conflict',
      `The sources of the image ${name} keep changing. Stop editing them and try again.`,
    );
  }

  async #plan(name: ShippedImage): Promise<Plan> {
    const { parents, context } = catalogue[name];
    const stands = await Promise.all(
      Object.entries(parents).map(async ([argument, parent]) => [argument, await this.#image(parent)] as const),
    );
    const files = await contextFiles(join(checkout, context.root), context.paths);
    const tag = contentTag({
      name,
      architecture: this.#around.architecture,
      files: name === 'base' ? { ...files, recipe: canonical(baseRecipe) } : files,
      parents: Object.fromEntries(stands.map(([argument, image]) => [argument, image.digest])),
    });
    return { ref: refOf(name, tag), parents: Object.fromEntries(stands.map(([key, image]) => [key, image.ref])) };
  }

  async #build(name: ShippedImage, plan: Plan, say: Say): Promise<Digest> {
    const { builder } = this.#around;
    if (name === 'base') return await makeBase(builder, say);
    const dockerfile = join(checkout, 'images', name, 'Dockerfile');
    const context = join(checkout, catalogue[name].context.root);
    return await builder.image({ name, dockerfile, context, arguments: plan.parents }, say);
  }

  async #register(name: ShippedImage, image: EnsuredImage): Promise<void> {
    const { home, progress } = this.#around;
    const before = (await lockedImages(home))[name];
    const report = await textIfThere(reportPath(home, name));
    const isKnown = before?.digest === image.digest && before.ref === image.ref;
    const isReported = isKnown && report !== undefined && before.packages === sha256(report);
    if (isReported && (name !== 'cell-init' || (await isTakenOut(home, before.files)))) return;
    const locked = await progress.step(`scanning ${name}`, async (say) => await this.#lookThrough(name, image, say));
    // The lanes share one lock file, so they write in turn.
    this.#writing = this.#writing.then(() => lockImage(home, name, locked));
    await this.#writing;
  }

  async #lookThrough(name: ShippedImage, image: EnsuredImage, say: Say): Promise<LockedImage> {
    const { home, builder, architecture } = this.#around;
    const { ref, digest } = image;
    const tools = await this.#image('tools');
    const report = `${canonical(await scanImage({ name, ref, digest }, tools.ref, builder, say))}\n`;
    await writeReport(home, name, report);
    const files =
      name === 'cell-init' ? { files: await takeOutInit(home, { ref, architecture }, builder, say) } : undefined;
    return { ref, digest, kind: catalogue[name].kind, packages: sha256(report), ...files };
  }
}
