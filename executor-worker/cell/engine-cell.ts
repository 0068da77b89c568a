import { setImmediate as soon } from 'node:timers/promises';
import type { Digest } from '@hotcell/contract/digest.ts';
import { HotcellError } from '@hotcell/contract/errors.ts';
import type { Attached, CreateOptions, Engine } from '@hotcell/outside/engine/engine.ts';
import type { VettedImage } from './cell-image.ts';
import type { MadeCell, OutsideView } from './cell-maker.ts';
import type { CellPlan } from './cell-plan.ts';
import { removeFolder } from './host-files.ts';
import { outsideDifferences, outsideFacts } from './posture-outside.ts';
import type { MemoryKill } from './sealed-cell.ts';

/** A container that was created for a cell. Its name reserves its uid. */
export interface CellContainer {
  id: string;
  uid: number;
  name: string;
  container: string;
  plan: CellPlan;
  image: VettedImage;
  init: Digest;
  options: CreateOptions;
}

/** A cell as a container of the engine. */
export class EngineCell implements MadeCell {
  readonly id: string;
  readonly uid: number;
  readonly name: string;
  readonly plan: CellPlan;
  readonly image: VettedImage;
  readonly init: Digest;
  readonly #engine: Engine;
  readonly #stateDir: string;
  readonly #container: string;
  readonly #options: CreateOptions;

  constructor({ engine, stateDir }: { engine: Engine; stateDir: string }, made: CellContainer) {
    this.id = made.id;
    this.uid = made.uid;
    this.name = made.name;
    this.plan = made.plan;
    this.image = made.image;
    this.init = made.init;
    this.#engine = engine;
    this.#stateDir = stateDir;
    this.#container = made.container;
    this.#options = made.options;
  }

  get readOnly(): string[] {
    return (this.#options.HostConfig?.Mounts ?? []).map(({ Target }) => Target);
  }

  connect(): Promise<Attached> {
    return this.#engine.attach(this.#container);
  }

  start(): Promise<void> {
    return this.#engine.start(this.#container);
  }

  async lookFromOutside(): Promise<OutsideView> {
    const [inspected, version] = await Promise.all([this.#engine.inspect(this.#container), this.#engine.ping()]);
    if (inspected === undefined) throw new HotcellError('cell_failed', `The container ${this.name} is gone.`);
    return {
      facts: outsideFacts(inspected, version),
      differences: outsideDifferences(this.#options, inspected),
    };
  }

  ended(withinMs: number): Promise<number | undefined> {
    return this.#engine.wait(this.#container, withinMs);
  }

  /** The engine doesn't tell whose memory was short, and has removed the cgroup by then. */
  async killedForMemory(): Promise<MemoryKill> {
    return (await this.#engine.inspect(this.#container))?.State.OOMKilled === true && 'limit';
  }

  kill(): Promise<void> {
    return this.#engine.kill(this.#container);
  }

  async remove(): Promise<boolean> {
    const [gone] = await Promise.all([removeContainer(this.#engine, this.#container), this.#removeFolder()]);
    return gone;
  }

  /** While the engine removes the container, whose request is sent by then. A cell that has ended needs no folder. */
  async #removeFolder(): Promise<void> {
    await soon();
    removeFolder(this.#stateDir, this.id);
  }
}

/** Another request may be removing it: only its absence counts. */
export async function removeContainer(engine: Engine, container: string): Promise<boolean> {
  return (await engine.remove(container)) || (await engine.inspect(container)) === undefined;
}
