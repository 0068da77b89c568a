import type { Socket } from 'node:net';
import { mountFiles } from '@hotcell/contract/cell-shape.ts';
import type { Digest } from '@hotcell/contract/digest.ts';
import { HotcellError } from '@hotcell/contract/errors.ts';
import type { Piece } from '@hotcell/outside/engine/demux.ts';
import type { Attached } from '@hotcell/outside/engine/engine.ts';
import type { KeeperDoor } from '@hotcell/outside/keeper/keeper-door.ts';
import type { VettedImage } from './cell-image.ts';
import type { MadeCell, OutsideView } from './cell-maker.ts';
import type { CellPlan } from './cell-plan.ts';
import type { MemoryKill } from './sealed-cell.ts';

interface KeptBy {
  id: string;
  uid: number;
  plan: CellPlan;
  image: VettedImage;
  init: Digest;
  socket: Socket;
}

/** How long the runtime's own words may take, once the stream of a cell that said nothing has ended. */
const saidMs = 2_000;

/** A cell that the keeper made. The connection is its stdin and stdout; everything else is asked by its id. */
export class KeeperCell implements MadeCell {
  readonly id: string;
  readonly uid: number;
  readonly name: string;
  readonly plan: CellPlan;
  readonly image: VettedImage;
  readonly init: Digest;
  readonly readOnly: readonly string[];
  readonly #door: KeeperDoor;
  readonly #socket: Socket;

  constructor(door: KeeperDoor, { id, uid, plan, image, init, socket }: KeptBy) {
    this.id = id;
    this.uid = uid;
    this.name = id;
    this.plan = plan;
    this.image = image;
    this.init = init;
    const inputs = new Set(['/inputs', ...plan.mounts.map(({ target }) => target)]);
    this.readOnly = [...mountFiles, '/sys/devices', ...inputs];
    this.#door = door;
    this.#socket = socket;
  }

  async connect(): Promise<Attached> {
    return { input: this.#socket, output: this.#output(), close: () => this.#socket.destroy() };
  }

  /** It starts as soon as it is made. */
  async start(): Promise<void> {}

  async lookFromOutside(isUp: Promise<unknown>): Promise<OutsideView> {
    await isUp;
    return await this.#door.ask({ ask: 'outside', cell: this.id });
  }

  async ended(withinMs: number): Promise<number | undefined> {
    const { hasEnded, exitCode } = await this.#door.ask({ ask: 'end', cell: this.id, withinMs });
    return hasEnded ? (exitCode ?? undefined) : undefined;
  }

  async killedForMemory(): Promise<MemoryKill> {
    const { kills, atLimit } = await this.#door.ask({ ask: 'memory', cell: this.id });
    if (kills === 0) return false;
    return atLimit ? 'limit' : 'host';
  }

  async kill(): Promise<void> {
    await this.#door.ask({ ask: 'kill', cell: this.id });
  }

  async remove(): Promise<boolean> {
    this.#socket.destroy();
    return await removeKept(this.#door, this.id);
  }

  /** Init writes to its stdout alone. A runtime that could not start it told the keeper why. */
  async *#output(): AsyncGenerator<Piece> {
    let heard = false;
    try {
      for await (const bytes of this.#socket as AsyncIterable<Buffer>) {
        heard = true;
        yield { stream: 'stdout', bytes };
      }
    } catch (error) {
      // A broken connection is one that ended; an error of the reader's own is not the connection's.
      if (!this.#socket.destroyed) throw error;
    }
    if (heard) return;
    yield* this.#saidByRuntime();
  }

  async *#saidByRuntime(): AsyncGenerator<Piece> {
    const asked = this.#door.ask({ ask: 'end', cell: this.id, withinMs: saidMs });
    // Without an answer there is only less to say: the next question for its end says why.
    const said = await asked.then(
      (end) => end.said,
      () => '',
    );
    if (said !== '') yield { stream: 'stderr', bytes: Buffer.from(said) };
  }
}

/** A cell that the keeper does not know is gone. */
export async function removeKept(door: KeeperDoor, cell: string): Promise<boolean> {
  try {
    return (await door.ask({ ask: 'remove', cell })).isGone;
  } catch (error) {
    if (error instanceof HotcellError && error.code === 'not_found') return true;
    throw error;
  }
}
