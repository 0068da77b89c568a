import type { Digest } from '@hotcell/contract/digest.ts';
import type { PostureFacts } from '@hotcell/contract/posture.ts';
import type { Attached } from '@hotcell/outside/engine/engine.ts';
import type { VettedImage } from './cell-image.ts';
import type { CellPlan } from './cell-plan.ts';
import type { Profile } from './seccomp.ts';
import type { MemoryKill } from './sealed-cell.ts';

/** What a cell is made from, once the worker has looked at all of it. */
export interface CellOrder {
  /** The cell's own id. It is random. */
  id: string;
  plan: CellPlan;
  image: VettedImage;
  /** The seccomp profile that the policy pins. */
  seccomp: Profile;
}

/** What the maker says of a cell that has started. */
export interface OutsideView {
  facts: PostureFacts;
  /** What differs from what was asked for. */
  differences: string[];
}

/** A cell that was made and not started yet. */
export interface MadeCell {
  readonly id: string;
  readonly uid: number;
  /** For people: by this name they find it in what made it. */
  readonly name: string;
  readonly plan: CellPlan;
  readonly image: VettedImage;
  /** The program that it must have as PID 1. */
  readonly init: Digest;
  /** Where files of the host are mounted, all of them read-only. */
  readonly readOnly: readonly string[];
  /** Before the start, so that nothing is lost in either direction. */
  connect(): Promise<Attached>;
  start(): Promise<void>;
  /** Once it has started. `isUp` resolves when its init has answered. */
  lookFromOutside(isUp: Promise<unknown>): Promise<OutsideView>;
  /** The exit code once it has ended; undefined if it has not ended in time. */
  ended(withinMs: number): Promise<number | undefined>;
  /** Whether the kernel killed in it for memory, as far as the host knows by now. */
  killedForMemory(): Promise<MemoryKill>;
  kill(): Promise<void>;
  /** By force, with everything that was made for it. True if nothing is left. */
  remove(): Promise<boolean>;
}

/** A cell of this installation, of any of its workers, running or not. */
export interface FoundCell {
  /** The cell's own id; empty if it was made to look into an image. */
  id: string;
  name: string;
  /** Empty if it belongs to no worker. */
  worker: string;
  /** When no run can use it any more; not a number if that can't be read. */
  deadlineMs: number;
  hasEnded: boolean;
  /** As a made cell's. */
  remove(): Promise<boolean>;
}

/** One way to make cells. Nothing else in the worker knows which it is. Every call is bounded in time. */
export interface CellMaker {
  /** The kernel's name for the machine of the cells. */
  readonly machine: string;
  /** Whose word the view from outside is, for a sentence about what it is worth. */
  readonly witness: string;
  /** `engine_unavailable` if no cell can be made now. */
  ready(): Promise<void>;
  /** The init of cells that are made now. */
  init(): Promise<Digest>;
  /** The image, once nothing in it is in the way of a cell's mounts. */
  vetted(image: CellPlan['image']): Promise<VettedImage>;
  make(order: CellOrder): Promise<MadeCell>;
  list(): Promise<FoundCell[]>;
  /** Removes what it keeps here for cells other than these. */
  tidy(isThere: (id: string) => boolean): Promise<void>;
}
