import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createZstdDecompress } from 'node:zlib';
import { HotcellError } from '@hotcell/contract/errors.ts';
import { LogRow } from '@hotcell/contract/log-rows.ts';
import { parseOurs } from '@hotcell/contract/parse.ts';
import type { RunId } from '@hotcell/contract/names.ts';
import { committedAttempt, type Result } from '@hotcell/contract/result.ts';
import { PreconditionFailed } from '@hotcell/outside/store/store-errors.ts';
import type { Buckets } from './buckets.ts';
import { checkedBytes } from '@hotcell/contract/checked-bytes.ts';
import { type AttemptPlace, recordKeys, workKeys } from './layout.ts';
import type { Retention } from '@hotcell/contract/retention.ts';
import { erasedOr, refuseErased } from './erasures.ts';
import { objects } from './objects.ts';
import { lockFor } from './lock-for.ts';

/** More than any row that a worker writes: a log that was replaced may unpack to one that never ends. */
const longestRow = 16 * 2 ** 20;

/** The rows of an NDJSON stream, parsed one by one: a log may be larger than memory. */
export async function* rowsIn(bytes: AsyncIterable<Buffer> | Iterable<Buffer>, what: string): AsyncGenerator<LogRow> {
  let rest = '';
  const decoder = new TextDecoder('utf-8', { fatal: true });
  for await (const chunk of bytes) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    if (rest.length > longestRow)
      throw new HotcellError('record_damaged', `${what} has a row that is longer than any of Hotcell's.`);
    for (const line of lines) yield parseOurs(LogRow, line, `a row of ${what}`, 'record_damaged');
  }
  if (rest !== '') throw new HotcellError('record_damaged', `${what} ends in the middle of a row.`);
}

/** The whole log of an attempt, compressed, as it comes. Nothing that stands there already is replaced. */
export async function putLog(
  store: Buckets,
  {
    tenant,
    run,
    retention,
    ...place
  }: { tenant: string; run: RunId; retention?: Retention | undefined } & AttemptPlace,
  chunks: AsyncIterable<Uint8Array>,
): Promise<void> {
  try {
    await store.upload(store.record, recordKeys.log(tenant, run, place), chunks, {
      ifAbsent: true,
      lock: lockFor(objects.log, retention),
    });
  } catch (error) {
    // Only the owner of this claim puts here: the answer to its own put was lost. Readers compare the digest in any case.
    if (!(error instanceof PreconditionFailed)) throw error;
  }
}

/** The log that a result names; none if no program ended the run. A log with another digest is never given whole. */
export async function* storedRows(store: Buckets, result: Result): AsyncGenerator<LogRow> {
  const { sha256 } = result.logs;
  const attempt = committedAttempt(result);
  if (sha256 === null || !attempt) return;
  const key = recordKeys.log(result.tenant, result.run, attempt);
  const damaged = (why: string, cause?: unknown) =>
    new HotcellError('record_damaged', `${store.record}/${key} ${why}, although the result names it.`, { cause });
  await refuseErased(store, result.tenant, result.run);
  const found = await store.get(store.record, key);
  // It may have been erased meanwhile.
  if (!found) throw await erasedOr(store, result.tenant, result.run, damaged('is missing'));
  const checked = checkedBytes(found.body, sha256, (other) => damaged(`has the digest ${other} instead of ${sha256}`));
  const plain = createZstdDecompress();
  // Its failure is thrown to the reader of the rows.
  const decompressed = pipeline(Readable.from(checked), plain).catch(() => undefined);
  try {
    yield* rowsIn(plain as AsyncIterable<Buffer>, key);
  } catch (error) {
    throw error instanceof HotcellError ? error : damaged('cannot be decompressed', error);
  } finally {
    found.body.destroy();
    plain.destroy();
    await decompressed;
  }
}

const segmentsAtOnce = 100;

/** Part of the log of an attempt that goes on. */
export async function putSegment(
  store: Buckets,
  run: RunId,
  attempt: number,
  index: number,
  body: string,
): Promise<void> {
  await store.put(store.work, workKeys.logSegment(run, attempt, index), body);
}

/** A page of the segments' names after one that was read before. */
export async function segmentsAfter(
  store: Buckets,
  run: RunId,
  attempt: number,
  after: string | undefined,
): Promise<string[]> {
  const names: string[] = [];
  for await (const { key } of store.list(store.work, workKeys.segments(run, attempt), after ? { after } : {})) {
    names.push(key);
    if (names.length === segmentsAtOnce) break;
  }
  return names;
}

/** Undefined if it is gone since it was listed: the run was committed, and its whole log is in the record. */
export async function readSegment(store: Buckets, name: string): Promise<LogRow[] | undefined> {
  const bytes = await store.getBytes(store.work, name);
  return bytes && (await Array.fromAsync(rowsIn([bytes], name)));
}
