import { CellId, MakeCell, mostInputs } from '@hotcell/contract/keeper-protocol.ts';
import { z } from 'zod';

/** What the keeper writes about a cell before it starts it, so that the next keeper knows it again. */
export const CellNote = z.strictObject({
  cell: CellId,
  worker: MakeCell.shape.worker,
  deadline: MakeCell.shape.deadline,
  runtime: MakeCell.shape.runtime,
  image: MakeCell.shape.image,
  cgroup: z.string(),
  /** The lease of its ids. */
  number: z.int(),
  uid: z.int(),
  base: z.int().nullable(),
  /** How many inputs are mounted in its folder. */
  inputs: z.int(),
});
export type CellNote = z.infer<typeof CellNote>;

/** Of a cell whose note can't be read, because the machine lost power: enough to end what it left and to remove it. */
export const lostNote = (cell: string, parent: string): CellNote => ({
  cell,
  worker: 'unknown',
  deadline: new Date(0).toISOString(),
  runtime: 'runc',
  image: `sha256:${'0'.repeat(64)}`,
  cgroup: `${parent}/${cell}`,
  number: -1,
  uid: 0,
  base: null,
  inputs: mostInputs,
});
