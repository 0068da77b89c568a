import assert from 'node:assert/strict';
import { messageOf } from '@hotcell/contract/errors.ts';
import { sha256 } from '@hotcell/contract/digest.ts';
import { readResult } from '@hotcell/record/commit.ts';
import { recordKeys } from '@hotcell/record/layout.ts';
import { parseJsonAs } from '@hotcell/contract/parse.ts';
import { Result } from '@hotcell/contract/result.ts';
import type { Buckets } from '@hotcell/record/buckets.ts';
import { echoQueue } from './echo.ts';
import type { House } from './house.ts';
import { until } from './until.ts';

const committed = ({ store, tenant }: House, run: string) => readResult(store, tenant, run);

/** The run's result, as soon as it is there. */
export function resultOf(house: House, run: string, boundMs?: number): Promise<Result> {
  return until(`${run} has a result`, () => committed(house, run), boundMs).catch(async (cause: unknown) => {
    throw new Error(`${run} has no result: ${await whereabouts(house, run).catch(messageOf)}`, { cause });
  });
}

/** Waits until an attempt of a run is at work, and returns its worker. A run that ends instead fails at once. */
export function running(house: House, run: string, attempt?: number, status = 'running'): Promise<string> {
  return until(`attempt ${attempt ?? 'any'} of ${run} is ${status}`, async (note) => {
    const [beat] = note(await house.producer.live.statusesOf([run]));
    if (beat?.status === status && (attempt ?? beat.attempt) === beat.attempt) return beat.worker;
    const result = await committed(house, run);
    if (result) assert.fail(`${run} ended instead, as ${result.outcome}: ${result.reason}`);
    return undefined;
  });
}

/** Where a run is that should have ended: its ticket, its heartbeat, and its keys in the work bucket. */
async function whereabouts({ producer, store }: House, run: string): Promise<string> {
  const places = await Promise.all(
    [echoQueue, 'runc', 'gvisor'].map((queue) => producer.queues.of(queue).places([run])),
  );
  const beats = await producer.live.statusesOf([run]);
  const keys = (await keysOf(store, store.work)).filter((key) => key.includes(run));
  return JSON.stringify({ places, beats, keys, refused: await producer.live.refused.all() });
}

/** Everything in a bucket under a prefix. */
export async function keysOf(store: Buckets, bucket: string, prefix = ''): Promise<string[]> {
  const keys: string[] = [];
  for await (const { key } of store.list(bucket, prefix)) keys.push(key);
  return keys;
}

/**
 * Every broken promise, in words, from the buckets alone: every accepted run has exactly one result, which matches its
 * digests, and nothing of any run is left in the work bucket, nor half an object anywhere.
 */
async function broken(house: House, accepted: readonly string[]): Promise<string[]> {
  const { store, tenant } = house;
  const found: string[] = [];
  for (const run of accepted) found.push(...(await brokenRun(store, tenant, run)));
  for (const key of await keysOf(store, store.work))
    if (!/^(idempotency|disk)\//.test(key)) found.push(`${key} is left in the work bucket`);
  for (const { key } of await store.halfUploads(store.work)) found.push(`half of ${key} is left in the work bucket`);
  return found;
}

async function brokenRun(store: Buckets, tenant: string, run: string): Promise<string[]> {
  const key = recordKeys.result(tenant, run);
  const versions: string[] = [];
  for await (const version of store.listVersions(store.record, key)) versions.push(version.versionId);
  if (versions.length !== 1) return [`${run} has ${versions.length} versions of a result`];
  const bytes = await store.getBytes(store.record, key);
  const result = parseJsonAs(Result, (bytes ?? '').toString(), key);
  const found: string[] = [];
  const spec = await store.getBytes(store.record, recordKeys.spec(tenant, run));
  if (result.spec !== null && (!spec || sha256(spec) !== result.spec))
    found.push(`${run} has another spec than it says`);
  const evidence = result.evidence && (await store.getBytes(store.record, result.evidence.bundle));
  if (!evidence || sha256(evidence) !== result.evidence?.sha256)
    found.push(`${run}: its evidence is not what the result names`);
  found.push(...(await brokenOutputs(store, result)), ...brokenAttempts(result));
  const last = result.attempts.at(-1);
  if (result.logs.sha256 && last) {
    const log = await store.getBytes(store.record, recordKeys.log(tenant, run, last));
    if (!log || sha256(log) !== result.logs.sha256) found.push(`${run}: the log is not what the result says`);
  }
  const { acceptedAt, finishedAt } = result.timings;
  if (acceptedAt > finishedAt) found.push(`${run} was finished at ${finishedAt}, before it was accepted`);
  return found;
}

async function brokenOutputs(store: Buckets, { run, tenant, outputs }: Result): Promise<string[]> {
  const found: string[] = [];
  for (const file of outputs.files) {
    const content = await store.getBytes(store.record, recordKeys.cas(tenant, file.sha256));
    if (!content || sha256(content) !== file.sha256) found.push(`${run}: the output ${file.path} is not what it says`);
    if (content && content.length !== file.size) found.push(`${run}: the output ${file.path} has another size`);
  }
  const manifest =
    outputs.snapshot && (await store.getBytes(store.record, recordKeys.manifest(tenant, outputs.snapshot)));
  if (outputs.snapshot && (!manifest || sha256(manifest) !== outputs.snapshot))
    found.push(`${run}: its outputs' manifest is not what the result says`);
  return found;
}

/** Attempts are numbered without gaps, each but the last says why it did not count, and the last has the run's outcome. */
function brokenAttempts({ run, attempts, outcome }: Result): string[] {
  const found: string[] = [];
  const numbers = attempts.map((attempt) => attempt.attempt);
  if (numbers.some((number, i) => number !== i + 1)) found.push(`${run}: attempts ${numbers.join(', ')}`);
  for (const { attempt, error, startedAt, finishedAt } of attempts) {
    if (attempt < attempts.length && !error) found.push(`${run}: nothing says why attempt ${attempt} did not count`);
    if (finishedAt !== null && startedAt > finishedAt) found.push(`${run}: attempt ${attempt} ended before it began`);
  }
  const last = attempts.at(-1);
  if (last?.outcome !== undefined && last.outcome !== outcome)
    found.push(`${run} is ${outcome}, and its last attempt ${last.outcome}`);
  return found;
}

/**
 * Waits until every promise about these runs is kept and nothing is left to do: no ticket waits, and the notary is idle.
 * Otherwise it fails, naming what is broken.
 */
export async function settled(house: House, accepted: readonly string[], boundMs?: number): Promise<void> {
  let last: string[] = [];
  await until(
    'every promise is kept',
    async () => {
      let without: readonly string[] = accepted;
      for (const queue of [echoQueue, 'runc']) without = await house.producer.queues.of(queue).missing(without);
      const queued = accepted.filter((run) => !without.includes(run)).map((run) => `${run} has a ticket`);
      await house.clearFinished();
      const keys = (await house.keysLeft()).map((key) => `${key} is left in Valkey`);
      last = [...queued, ...keys, ...(await broken(house, accepted))];
      return last.length === 0;
    },
    boundMs,
  ).catch((cause: unknown) => {
    throw new Error(last.join('\n'), { cause });
  });
}
