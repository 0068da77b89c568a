import { z } from 'zod';

/** The operator is the command line and the set-up, with the store's own administrator keys. */
type Writer = 'producer' | 'worker' | 'notary' | 'operator';

/**
 * Under which condition an object is put. `first`: if absent, so that the first one stays. `swap`: over exactly the
 * version that was read. `digest`: its name is the digest of its bytes, so that every writer puts the same. `latest`:
 * the last one stays.
 */
export type Condition = 'first' | 'swap' | 'digest' | 'latest';

/**
 * How long an object is kept. `referenced`: until the collector finds that nothing points to it. `cleared`: until the
 * notary clears up behind its run. `held`: until its writer, or the collector in its place, lets go of it. `refusals90`: forever, but
 * for 90 days if the run was refused before it was accepted.
 */
type Kept = 'forever' | 'refusals90' | 'referenced' | 'cleared' | 'week' | 'held';

export interface Kind<
  At extends readonly unknown[] = readonly never[],
  S extends z.ZodType = z.ZodType,
  C extends Condition = Condition,
> {
  bucket: 'record' | 'work';
  put: C;
  writers: readonly Writer[];
  kept: Kept;
  /** Whether the retention of a run's policy locks it, in the put that writes it: what a run was, did and made. */
  locks: boolean;
  /** The key, with names in the place of what varies. */
  at: string;
  key: (...at: At) => string;
  schema: S;
}

/** Bytes that are not one JSON value. */
export const Bytes = z.never();

const kindIn =
  (bucket: Kind['bucket']) =>
  <At extends readonly unknown[], S extends z.ZodType, C extends Condition>(
    at: string,
    key: (...at: At) => string,
    schema: S,
    put: C,
    writers: readonly Writer[],
    kept: Kept,
    locks = false,
  ): Kind<At, S, C> => ({ bucket, at, key, schema, put, writers, kept, locks });

export const record = kindIn('record');
export const work = kindIn('work');
