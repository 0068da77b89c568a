import type { Digest } from '@hotcell/contract/digest.ts';
import { HotcellError } from '@hotcell/contract/errors.ts';
import { PreconditionFailed } from '@hotcell/outside/store/store-errors.ts';
import type { FoundObject } from '@hotcell/outside/store/store-list.ts';
import type { z } from 'zod';
import type { Buckets } from './buckets.ts';
import type { Retention } from '@hotcell/contract/retention.ts';
import { lockFor } from './lock-for.ts';
import { hashedForm, longWork } from './long-work.ts';
import type { Kind } from './object-kind.ts';
import { objects } from './objects.ts';

/** An object as it was read, with what a later write over exactly this version needs. */
export interface Stored<T> extends Pick<FoundObject, 'etag' | 'modified' | 'metadata'> {
  value: T;
  /** Its fields that a newer version adds. They are kept in the value. */
  unknown: readonly string[];
  /** Of the bytes as they stand there. */
  digest: Digest;
}

/** What stands after a put, of this writer or of another. */
type Standing<T> = Pick<Stored<T>, 'value' | 'digest' | 'metadata'>;

/** What is larger is read and parsed one after the other: it takes several times its size, and lanes may meet many. */
const largeBytes = 1024 * 1024;

const json = { contentType: 'application/json' } as const;

function nameOf(kind: Kind<never, z.ZodType>): keyof typeof objects {
  const found = Object.entries(objects).find(([, one]) => one.at === kind.at);
  return found?.[0] as keyof typeof objects;
}

export async function readStored<At extends readonly unknown[], S extends z.ZodType>(
  store: Buckets,
  kind: Kind<At, S>,
  ...at: At
): Promise<Stored<z.output<S>> | undefined> {
  const [bucket, key] = [store[kind.bucket], kind.key(...at)];
  const parsed = async ({ etag, modified, metadata }: FoundObject, bytes: Buffer) => {
    const kept = await longWork(bytes.length, 'parseObject', nameOf(kind), bytes, `${bucket}/${key}`);
    return { ...kept, value: kept.value as z.output<S>, etag, modified, metadata };
  };
  const found = await store.getUpTo(largeBytes, bucket, key);
  if (!found || found.bytes) return found?.bytes && (await parsed(found, found.bytes));
  return await store.inTurn.do(async () => {
    const whole = await store.getWhole(bucket, key);
    return whole && (await parsed(whole, whole.bytes));
  });
}

export async function readValue<At extends readonly unknown[], S extends z.ZodType>(
  store: Buckets,
  kind: Kind<At, S>,
  ...at: At
): Promise<z.output<S> | undefined> {
  return (await readStored(store, kind, ...at))?.value;
}

/**
 * A mark that cannot be read still says what its key says. It is kept and reported, and `instead` is what is left of it:
 * no run is lost or held up by it.
 */
export async function readMark<At extends readonly unknown[], S extends z.ZodType>(
  store: Buckets,
  kind: Kind<At, S>,
  instead: (about: { modified: Date; error: HotcellError }) => z.output<S> | undefined,
  ...at: At
): Promise<z.output<S> | undefined> {
  try {
    return await readValue(store, kind, ...at);
  } catch (error) {
    if (!isDamaged(error)) throw error;
    const found = await store.head(store[kind.bucket], kind.key(...at));
    if (!found) return undefined;
    store.unreadable(error);
    return instead({ modified: found.modified ?? new Date(0), error });
  }
}

export function isDamaged(error: unknown): error is HotcellError {
  return error instanceof HotcellError && error.code === 'record_damaged';
}

export async function has<At extends readonly unknown[]>(store: Buckets, kind: Kind<At>, ...at: At): Promise<boolean> {
  return (await sizeOf(store, kind, ...at)) !== undefined;
}

export async function sizeOf<At extends readonly unknown[]>(
  store: Buckets,
  kind: Kind<At>,
  ...at: At
): Promise<number | undefined> {
  return (await store.head(store[kind.bucket], kind.key(...at)))?.size;
}

/** The last one stays. */
export async function put<At extends readonly unknown[], S extends z.ZodType>(
  store: Buckets,
  kind: Kind<At, S, 'latest'>,
  value: z.output<S>,
  ...at: At
): Promise<void> {
  await store.put(store[kind.bucket], kind.key(...at), (await hashedForm(value)).bytes, json);
}

/**
 * What stands there now: this value, or the one that was first. The caller tells its own by what is in it, also when the
 * answer to its put was lost. One that is removed in between counts as never there.
 */
export async function putFirst<At extends readonly unknown[], S extends z.ZodType>(
  store: Buckets,
  kind: Kind<At, S, 'first'>,
  value: z.output<S>,
  ...at: At
): Promise<z.output<S>> {
  return (await putFirstKept(store, kind, undefined, value, ...at)).value;
}

/** The same, under the lock that the retention of its run asks for, and with the digest of what stands there. */
export async function putFirstKept<At extends readonly unknown[], S extends z.ZodType>(
  store: Buckets,
  kind: Kind<At, S, 'first'>,
  retention: Retention | undefined,
  value: z.output<S>,
  ...at: At
): Promise<Standing<z.output<S>>> {
  return await putFirstFormed(store, kind, retention, { value, ...(await hashedForm(value)) }, ...at);
}

/** The same of a value that is in its canonical form already. */
export async function putFirstFormed<At extends readonly unknown[], S extends z.ZodType>(
  store: Buckets,
  kind: Kind<At, S, 'first'>,
  retention: Retention | undefined,
  { value, bytes, digest, metadata }: Standing<z.output<S>> & { bytes: Uint8Array },
  ...at: At
): Promise<Standing<z.output<S>>> {
  const [bucket, key] = [store[kind.bucket], kind.key(...at)];
  const options = { ...json, lock: lockFor(kind, retention), metadata };
  for (let tries = 0; tries < 3; tries++) {
    if (await store.putIfAbsent(bucket, key, bytes, options)) return { value, digest, metadata };
    const first = await readStored(store, kind, ...at);
    if (first !== undefined) return first;
  }
  throw new HotcellError('conflict', `${bucket}/${key} is put and removed again and again: try again`);
}

/** Over exactly the version that was read, or where nothing was. Answers the new version's tag; `conflict` if it lost. */
export async function swap<At extends readonly unknown[], S extends z.ZodType>(
  store: Buckets,
  kind: Kind<At, S, 'swap'>,
  value: z.output<S>,
  before: Pick<Stored<unknown>, 'etag'> | undefined,
  ...at: At
): Promise<string> {
  const condition = before ? { ifMatch: before.etag } : { ifAbsent: true };
  const { bytes } = await hashedForm(value);
  return (await store.put(store[kind.bucket], kind.key(...at), bytes, { ...json, ...condition })).etag;
}

/** This many losses in a row are not a race. */
const mostSwaps = 50;

/**
 * Puts what `next` makes of what stands there, over exactly that; where another writer was first, it looks again. Where
 * `next` answers undefined, nothing is put. Answers what stands there afterwards.
 */
export async function change<At extends readonly unknown[], S extends z.ZodType>(
  store: Buckets,
  kind: Kind<At, S, 'swap'>,
  next: (before: Stored<z.output<S>> | undefined) => z.output<S> | undefined,
  ...at: At
): Promise<z.output<S> | undefined> {
  for (let tries = 1; ; tries++) {
    const before = await readStored(store, kind, ...at);
    const after = next(before);
    if (after === undefined) return before?.value;
    try {
      await swap(store, kind, after, before, ...at);
      return after;
    } catch (error) {
      if (!(error instanceof PreconditionFailed) || tries >= mostSwaps) throw error;
    }
  }
}

/** Its name is the digest of its bytes, so the same bytes may be there already. */
export async function putByDigest<S extends z.ZodType>(
  store: Buckets,
  kind: Kind<[digest: Digest], S, 'digest'>,
  text: string,
  digest: Digest,
): Promise<void> {
  await store.putIfAbsent(store[kind.bucket], kind.key(digest), text, json);
}
