import { z } from 'zod';
import { Digest } from './digest.ts';
import { type ErrorCode, errorCodes } from './errors.ts';
import { forEachLimit } from './limits.ts';
import { WorkerName } from './names.ts';
import { PostureFacts } from './posture.ts';

/**
 * What a worker and the keeper say to each other: one connection for each request, which is one line of JSON; the answer
 * is one line as well. After the answer to `make` the connection is the cell's stdin and stdout.
 */
export const keeperLineBytes = 32 * 1024;

export const CellId = z.string().regex(/^[0-9a-f]{16}$/, 'must be 16 lowercase hex digits');

/** The hard floor and ceiling of every limit: the keeper does not rely on a policy that it can't see. */
const CeilingLimits = z.strictObject(
  forEachLimit((_name, { unit, min, max }) => (unit === 'cpus' ? z.number() : z.int()).min(min).max(max)),
);

const step = /^[^/\0]+$/;
/** A path below the staging folder, step by step: none of them leads up or stays. */
const Below = z
  .array(
    z
      .string()
      .max(255)
      .regex(step)
      .refine((name) => name !== '.' && name !== '..', 'must not be . or ..'),
  )
  .min(1)
  .max(16);

const Input = z.strictObject({
  from: Below,
  target: z
    .string()
    .regex(/^\/inputs(\/(?:\.workspace|[a-z0-9][a-z0-9_-]{0,62}))?$/, 'must be /inputs or a name below it'),
});

/** Every input of a run, and the folder of all. */
export const mostInputs = 65;

export const MakeCell = z.strictObject({
  ask: z.literal('make'),
  cell: CellId,
  worker: WorkerName,
  deadline: z.iso.datetime(),
  runtime: z.enum(['runc', 'gvisor']),
  image: Digest,
  seccomp: Digest,
  limits: CeilingLimits,
  inputs: z.array(Input).max(mostInputs),
});
export type MakeCell = z.infer<typeof MakeCell>;

export const KeeperRequest = z.discriminatedUnion('ask', [
  MakeCell,
  z.strictObject({ ask: z.literal('about') }),
  z.strictObject({ ask: z.literal('image'), image: Digest }),
  z.strictObject({ ask: z.literal('list') }),
  z.strictObject({ ask: z.literal('outside'), cell: CellId }),
  z.strictObject({ ask: z.literal('end'), cell: CellId, withinMs: z.int().min(0).max(60_000) }),
  z.strictObject({ ask: z.literal('memory'), cell: CellId }),
  z.strictObject({ ask: z.literal('kill'), cell: CellId }),
  z.strictObject({ ask: z.literal('remove'), cell: CellId }),
]);
export type KeeperRequest = z.infer<typeof KeeperRequest>;

const answers = {
  /** The cell is being started: from here on the connection is its own. */
  make: z.strictObject({ uid: z.int() }),
  /** A worker needs the machine alone. A keeper may be newer than who asks, or older. */
  about: z.object({
    machine: z.string(),
    /** The program and its version for each runtime that a policy can name. */
    runtimes: z.partialRecord(MakeCell.shape.runtime, z.string()).default({}),
    cgroups: z.enum(['1', '2', 'mixed']).default('1'),
    userNamespaces: z.boolean().default(false),
    boundsDisks: z.boolean().default(false),
    /** The digest of the cell-init that its next cell gets. */
    init: Digest.optional(),
  }),
  image: z.strictObject({ env: z.record(z.string(), z.string()) }),
  list: z.array(z.strictObject({ cell: CellId, worker: WorkerName, deadline: z.string(), hasEnded: z.boolean() })),
  outside: z.strictObject({ facts: PostureFacts, differences: z.array(z.string()) }),
  /** `exitCode` is null if the keeper that started the cell is gone. `said` is what the runtime printed. */
  end: z.strictObject({ hasEnded: z.boolean(), exitCode: z.int().nullable(), said: z.string() }),
  /** `atLimit`: the cell came to its own limit; what is killed without that is killed for the host's lack of memory. */
  memory: z.strictObject({ kills: z.int(), atLimit: z.boolean() }),
  kill: z.strictObject({}),
  remove: z.strictObject({ isGone: z.boolean() }),
} as const;

export type KeeperAnswer<A extends KeeperRequest['ask']> = z.infer<(typeof answers)[A]>;

const code = z.enum(Object.keys(errorCodes) as [ErrorCode, ...ErrorCode[]]);
export const KeeperRefusal = z.strictObject({ error: z.strictObject({ code, message: z.string() }) });

export const keeperAnswer = <A extends KeeperRequest['ask']>(ask: A) => answers[ask];
