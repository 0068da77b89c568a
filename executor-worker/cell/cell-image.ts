import { randomUUID } from 'node:crypto';
import { cellCpus } from '@hotcell/contract/cell-bounds.ts';
import { initPath, mountFiles, mountFolders } from '@hotcell/contract/cell-shape.ts';
import { fixedVariables, isNeverVariable, jobVariables, threadVariables } from '@hotcell/contract/job-variables.ts';
import { HotcellError } from '@hotcell/contract/errors.ts';
import { matches } from '@hotcell/contract/policy.ts';
import type { Engine, InspectedImage } from '@hotcell/outside/engine/engine.ts';
import type { CellPlan } from './cell-plan.ts';
import { cellLabels } from './options.ts';

/** An image that was inspected: nothing in it is in the way of a cell's mounts. */
export interface VettedImage {
  /** The image's own id, which the engine runs. */
  id: string;
  env: Readonly<Record<string, string>>;
}

const defaultPath = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';
/** Go's os.ModeDir, as the engine sends it. */
const isFolder = (mode: number) => (mode & 0x80000000) !== 0;

/** Inspects each image once: its id names its content, which does not change. */
export class Images {
  readonly #engine: Engine;
  readonly #installation: string;
  readonly #vetted = new Map<string, Promise<void>>();

  constructor(engine: Engine, installation: string) {
    this.#engine = engine;
    this.#installation = installation;
  }

  /** Asks the engine every time, because an image may be removed; inspects its files once. */
  async vetted(image: CellPlan['image']): Promise<VettedImage> {
    const found = await this.#find(image);
    const seen = this.#vetted.get(found.Id) ?? this.#look(image.ref, found);
    this.#vetted.set(found.Id, seen);
    await seen.catch((error: unknown) => {
      // A refusal stays; a failure of the engine does not.
      if (!(error instanceof HotcellError && error.code === 'image_refused')) this.#vetted.delete(found.Id);
      throw error;
    });
    return { id: found.Id, env: variablesOf(found) };
  }

  async #find({ ref, digest }: CellPlan['image']): Promise<InspectedImage> {
    const byId = await this.#orMissing(digest);
    if (byId) return byId;
    // Not an image's own id, so it may be the digest of a registry's manifest, under the image's name.
    const name = ref.replace(/@.*$/, '').replace(/:[^/:]*$/, '');
    const byManifest = await this.#orMissing(`${name}@${digest}`);
    if (byManifest?.RepoDigests?.some((one) => one.endsWith(`@${digest}`))) return byManifest;
    throw new HotcellError(
      'image_missing',
      `The engine does not have the image ${ref} (${digest}). Build or load it again.`,
    );
  }

  async #orMissing(name: string): Promise<InspectedImage | undefined> {
    try {
      return await this.#engine.image(name);
    } catch (error) {
      if (error instanceof HotcellError && error.code === 'image_missing') return undefined;
      throw error;
    }
  }

  async #look(ref: string, image: InspectedImage): Promise<void> {
    const volumes = Object.keys(image.Config.Volumes ?? {});
    if (volumes.length > 0) throw refused(ref, `it declares VOLUME ${volumes.join(', ')}`);
    const name = `hotcell-look-${randomUUID()}`;
    // Never started: no code of the image runs here.
    const id = await this.#engine.create(name, {
      Image: image.Id,
      Entrypoint: [initPath],
      Cmd: [],
      NetworkDisabled: true,
      Healthcheck: { Test: ['NONE'] },
      Labels: cellLabels(this.#installation, '', new Date(Date.now() + 120_000)),
      HostConfig: { NetworkMode: 'none', LogConfig: { Type: 'none', Config: {} } },
    });
    if (id === undefined) throw new HotcellError('cell_failed', `The engine already has a container named ${name}.`);
    try {
      for (const path of [...mountFolders, ...mountFiles]) await this.#lookAt(ref, id, path);
    } finally {
      await this.#engine.remove(id);
    }
  }

  async #lookAt(ref: string, container: string, path: string): Promise<void> {
    const found = await this.#engine.stat(container, path);
    if (!found) return;
    if (found.linkTarget !== '')
      throw refused(ref, `${path} is a link to ${JSON.stringify(found.linkTarget)}, but a cell mounts there`);
    if (isFolder(found.mode) !== mountFolders.some((one) => one === path))
      throw refused(ref, `${path} is ${isFolder(found.mode) ? '' : 'not '}a folder, but a cell mounts there`);
  }
}

function refused(ref: string, why: string): HotcellError {
  return new HotcellError('image_refused', `Cells can't use the image ${ref}: ${why}. Build it without that.`);
}

function variablesOf(image: InspectedImage): Record<string, string> {
  return Object.fromEntries(
    (image.Config.Env ?? []).map((entry) => {
      const cut = entry.indexOf('=');
      return cut < 0 ? [entry, ''] : [entry.slice(0, cut), entry.slice(cut + 1)];
    }),
  );
}

/** The environment of a cell's class, whatever the image sets: it has nothing of a run. */
function classEnvironment(plan: Pick<CellPlan, 'imageEnv' | 'limits'>, image: VettedImage): Record<string, string> {
  const letThrough = Object.entries(image.env).filter(
    ([name]) =>
      /^[A-Za-z_][A-Za-z0-9_]*$/.test(name) &&
      !isNeverVariable(name) &&
      plan.imageEnv.some((pattern) => matches(pattern, name)),
  );
  return {
    ...Object.fromEntries(threadVariables.map((name) => [name, String(cellCpus(plan.limits))])),
    ...Object.fromEntries(letThrough),
    PATH: image.env.PATH || defaultPath,
    ...fixedVariables,
  };
}

/**
 * The job's environment: exactly this, and in this order. The job's own variables come last, as they do in a cell that
 * waited: a program sees the same in both.
 */
export function environmentOf(
  plan: Pick<CellPlan, 'env' | 'imageEnv' | 'limits'>,
  image: VettedImage,
): Record<string, string> {
  return { ...classEnvironment(plan, image), ...jobVariables(plan.env) };
}
