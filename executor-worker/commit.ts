import { canonical, sha256 } from '@hotcell/contract/digest.ts';
import { doneMarker } from '@hotcell/record/done-marker.ts';
import { HotcellError } from '@hotcell/contract/errors.ts';
import { recordKeys, workKeys } from '@hotcell/record/layout.ts';
import { parseJsonAs } from '@hotcell/contract/parse.ts';
import { Result } from '@hotcell/contract/result.ts';
import { Spec } from '@hotcell/contract/spec.ts';
import { crashPoint } from '@hotcell/outside/process/crash.ts';
import type { Live } from '@hotcell/outside/live/live.ts';
import type { Logger } from '@hotcell/outside/process/log.ts';
import { publishName } from '@hotcell/record/snapshot-name.ts';
import type { Buckets } from '@hotcell/record/buckets.ts';
import { patiently } from './patience.ts';

export interface CommitDeps {
  store: Buckets;
  live: Live;
  log: Logger;
}

/**
 * The one write that decides which attempt counts. False: another one was committed before, and nothing of ours counts.
 * What was executed is not thrown away because the store is away for a moment.
 */
export async function commit(deps: CommitDeps, result: Result): Promise<boolean> {
  const { store } = deps;
  const text = canonical(result);
  const key = recordKeys.result(result.tenant, result.run);
  const first = await patiently(deps.log, `commit ${result.run}`, () =>
    store.putIfAbsent(store.record, key, text, { contentType: 'application/json' }),
  );
  if (first) return true;
  // Our own put, whose answer was lost, left our own bytes there.
  const there = await patiently(deps.log, `read ${key}`, () => store.getBytes(store.record, key));
  return there !== undefined && there.equals(Buffer.from(text));
}

/** The committed result, if the run has one. */
export async function committed(store: Buckets, tenant: string, run: string): Promise<Result | undefined> {
  const key = recordKeys.result(tenant, run);
  const bytes = await store.getBytes(store.record, key);
  return bytes && parseJsonAs(Result, bytes.toString('utf8'), key, 'record_damaged');
}

/** What follows from a result, and may be done again by anybody: its outputs' name, the done marker, the news. */
export async function follow(deps: CommitDeps, result: Result, spec: Spec | undefined): Promise<void> {
  const { store, live, log } = deps;
  const { run, tenant, outcome, timings } = result;
  await patiently(log, `publish the outputs of ${run}`, () => publish(store, result, spec));
  crashPoint('worker.published');
  await patiently(log, `mark ${run} as done`, () =>
    store.put(store.work, workKeys.done(tenant, run), canonical(doneMarker(result))),
  );
  crashPoint('worker.done');
  await live
    .finished({ type: 'status', run, tenant, status: 'finished', outcome, at: timings.finishedAt })
    .catch((error: unknown) => log.info({ run, error }, 'finished; whoever waits finds out by looking'));
  crashPoint('worker.told');
}

async function publish(store: Buckets, result: Result, known: Spec | undefined): Promise<void> {
  const { snapshot } = result.outputs;
  if (result.outcome !== 'succeeded' || snapshot === null || result.spec === null) return;
  const { tenant, run, timings } = result;
  const { publish: name } = known ?? (await readSpec(store, tenant, run, result.spec));
  if (name === undefined) return;
  await publishName(store, tenant, name, snapshot, `run ${run}`, new Date(timings.finishedAt));
}

/** Believed only if it is, byte for byte, what the ticket's or the result's digest names. */
export async function readSpec(store: Buckets, tenant: string, run: string, digest: string): Promise<Spec> {
  const key = recordKeys.spec(tenant, run);
  const bytes = await store.getBytes(store.record, key);
  if (!bytes) throw new HotcellError('record_damaged', `${key} is missing: what was to be run is not known`);
  if (sha256(bytes) !== digest)
    throw new HotcellError('record_damaged', `${key} was altered: it is ${sha256(bytes)}, and ${digest} was accepted`);
  const spec = parseJsonAs(Spec, bytes.toString('utf8'), key, 'record_damaged');
  if (spec.run !== run || spec.tenant !== tenant)
    throw new HotcellError('record_damaged', `${key} is the spec of run ${spec.run} of ${spec.tenant}`);
  return spec;
}
