import { HotcellError } from '@hotcell/contract/errors.ts';
import { newRunId, type RunId } from '@hotcell/contract/names.ts';
import { hashedForm } from '@hotcell/record/long-work.ts';
import type { Buckets } from '@hotcell/record/buckets.ts';
import { putIdempotencyMark, readIdempotencyMark } from '@hotcell/record/run-marks.ts';
import type { IdempotencyMark } from '@hotcell/record/schemas.ts';

/** A request for a batch or a workflow, as it is compared with what came with the same key before. */
export interface KeyedRequest {
  of: 'batch' | 'workflow';
  tenant: string;
  /** Undefined: each such request is another one. */
  key: string | undefined;
  request: object;
}

/** What is made has this id and this time, also where another request completes it. */
export interface Made {
  id: RunId;
  at: string;
}

/** What an earlier request with this key was given. Its process may have died before it was made. */
export async function madeBefore(store: Buckets, { key, ...asked }: KeyedRequest): Promise<Made | undefined> {
  const found = key === undefined ? undefined : await readIdempotencyMark(store, asked.tenant, nameOf(asked.of, key));
  return found && sameOf(asked, found, (await hashedForm(asked.request)).digest);
}

/** The first request with a key decides the id. It is decided before anything is made under it. */
export async function claimMade(store: Buckets, { key, ...asked }: KeyedRequest): Promise<Made> {
  const fresh = { id: newRunId(), at: new Date().toISOString() };
  if (key === undefined) return fresh;
  const body = (await hashedForm(asked.request)).digest;
  const { tenant, of } = asked;
  const mark = { version: 1 as const, tenant, run: fresh.id, at: fresh.at, body };
  return sameOf(asked, await putIdempotencyMark(store, nameOf(of, key), mark), body);
}

/** A key of runs has no space in it: the same key for a run and a workflow names each. */
const nameOf = (of: KeyedRequest['of'], key: string) => `${of} ${key}`;

function sameOf({ of }: Pick<KeyedRequest, 'of'>, { run, at, body }: IdempotencyMark, asked: string): Made {
  if (body === asked) return { id: run, at };
  throw new HotcellError(
    'idempotency_mismatch',
    `This idempotency key was used for another ${of} (${run}). Use a new key, or send the same request.`,
    { extra: { [of]: run } },
  );
}
