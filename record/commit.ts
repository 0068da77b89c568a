import type { Digest } from '@hotcell/contract/digest.ts';
import { HotcellError } from '@hotcell/contract/errors.ts';
import { type AttestedResult, attestedPart } from '@hotcell/contract/evidence/attested-result.ts';
import type { RunId } from '@hotcell/contract/names.ts';
import type { Result } from '@hotcell/contract/result.ts';
import type { Spec } from '@hotcell/contract/spec.ts';
import type { Live } from '@hotcell/outside/live/live.ts';
import { crashPoint } from '@hotcell/outside/process/crash.ts';
import type { Logger } from '@hotcell/outside/process/log.ts';
import { committed, type Known, putEvidence, signResult } from './attest.ts';
import type { Buckets } from './buckets.ts';
import { objects } from './objects.ts';
import { hashedForm } from './long-work.ts';
import { once, type StepRetry } from './patience.ts';
import { findSpec, readSpec } from './run-spec.ts';
import type { Signer } from './signer.ts';
import { publishName } from './snapshot-name.ts';
import { has, isDamaged, put, putFirstFormed, readStored, type Stored } from './read-write.ts';

export interface FollowDeps {
  store: Buckets;
  live: Pick<Live, 'finished' | 'published'>;
  log: Logger;
  /** Without one, each step is tried once. */
  patience?: StepRetry;
}

export interface CommitDeps extends FollowDeps {
  signer: Signer;
}

/**
 * The one way in which a run ends: sign, put the evidence, put the result that names it. The last of these writes decides
 * which attempt counts. False: another result was committed before. Then nothing of this one counts but its evidence,
 * which stays, and what follows from the other is done again, since its writer may have died.
 */
export async function commit(deps: CommitDeps, result: AttestedResult, known: Known = {}): Promise<boolean> {
  const { store, signer, log, patience = once } = deps;
  const { tenant, run } = result;
  const attested = await signResult(signer, result, known);
  const find = () => retentionOf(store, result, known.spec);
  const retention = await patience(log, `find the retention of ${run}`, find);
  crashPoint('commit.signed');
  const put = () => putEvidence(store, attested, retention);
  const evidence = await patience(log, `put the evidence of ${run}`, put);
  crashPoint('commit.evidence');
  const whole = await committed(attested, evidence);
  const stands = await patience(log, `commit run ${run}`, () =>
    putFirstFormed(store, objects.result, retention, whole, tenant, run),
  );
  crashPoint('commit.result');
  await follow(deps, stands, known.spec);
  // A put whose answer was lost left these very bytes: the result that stands is this one, also when it was there first.
  if (stands.digest === whole.digest) return true;
  // Signed by its writer once more, the same result has another signature.
  return (await hashedForm(attestedPart(stands.value))).digest === attested.form.digest;
}

/** As its spec says. A refusal has no spec, and no run was promised: it is not locked. */
async function retentionOf(store: Buckets, { tenant, run, spec: digest }: AttestedResult, spec: Spec | undefined) {
  if (spec || digest === null) return spec?.retention;
  try {
    return (await findSpec(store, tenant, run))?.spec.retention;
  } catch (error) {
    // The result says that the spec cannot be read. Nothing else knows of a retention.
    if (!isDamaged(error)) throw error;
    return undefined;
  }
}

/** What may be missing behind a result whose writer died. Answers the result; undefined if the run has none yet. */
export async function followCommitted(deps: FollowDeps, tenant: string, run: RunId): Promise<Result | undefined> {
  const { store, log, patience = once } = deps;
  const result = await patience(log, `read the result of ${run}`, () => storedResult(store, tenant, run));
  if (result) await follow(deps, result);
  return result?.value;
}

export async function readResult(store: Buckets, tenant: string, run: RunId): Promise<Result | undefined> {
  return (await storedResult(store, tenant, run))?.value;
}

export async function storedResult(store: Buckets, tenant: string, run: RunId): Promise<Stored<Result> | undefined> {
  const found = await readStored(store, objects.result, tenant, run);
  if (found && (found.value.run !== run || found.value.tenant !== tenant))
    throw new HotcellError(
      'record_damaged',
      `The key of run ${run}'s result holds the result of run ${found.value.run}.`,
    );
  return found;
}

export function isCommitted(store: Buckets, tenant: string, run: RunId): Promise<boolean> {
  return has(store, objects.result, tenant, run);
}

type Standing = Pick<Stored<Result>, 'value' | 'digest'>;

/**
 * In this order: the names of outputs and workspace, the done marker, the news. The marker lets the notary remove all that could bring
 * another worker here, so nothing that has to happen comes after it. Doing it twice is doing it once.
 */
async function follow(deps: FollowDeps, { value: result, digest }: Standing, spec?: Spec): Promise<void> {
  const { store, live, log, patience = once } = deps;
  const { run, tenant, outcome, timings } = result;
  await patience(log, `publish the outputs of ${run}`, () => publish(deps, result, spec));
  crashPoint('commit.published');
  const { finishedAt } = timings;
  const marker = { version: 1, run, tenant, result: digest, finishedAt } as const;
  await patience(log, `mark ${run} as done`, () => put(store, objects.done, marker, tenant, run));
  crashPoint('commit.done');
  await live
    .finished({ type: 'status', run, tenant, status: 'finished', outcome, at: finishedAt })
    .catch((error: unknown) =>
      log.info({ run, error }, 'failed to announce the result; readers look for it themselves'),
    );
  crashPoint('commit.told');
}

/** Without Valkey, schedules that wait for the name see it at their next look. */
export async function tellPublished(
  { live, log }: { live: Pick<Live, 'published'>; log: Logger },
  tenant: string,
  name: string,
): Promise<void> {
  await live.published(tenant, name).catch((error: unknown) => {
    log.info({ name, error }, 'failed to announce a publication; the schedules that wait for it will see it');
  });
}

/** An erased run was committed and published long ago. */
async function specUnlessErased(store: Buckets, tenant: string, run: RunId, digest: Digest): Promise<Spec | undefined> {
  try {
    return await readSpec(store, tenant, run, digest);
  } catch (error) {
    if (error instanceof HotcellError && error.code === 'erased') return undefined;
    throw error;
  }
}

async function publish(deps: FollowDeps, result: Result, known: Spec | undefined): Promise<void> {
  const { store } = deps;
  const { tenant, run, timings, spec: digest } = result;
  const { snapshot } = result.outputs;
  const after = result.workspace?.after ?? null;
  if (result.outcome !== 'succeeded' || (snapshot ?? after) === null || digest === null) return;
  const spec = known ?? (await specUnlessErased(store, tenant, run, digest));
  const named = [
    [spec?.publish, snapshot],
    [spec?.workspacePublish, after],
  ] as const;
  for (const [name, id] of named)
    if (name !== undefined && id !== null) {
      await publishName(store, tenant, name, id, `run ${run}`, new Date(timings.finishedAt));
      await tellPublished(deps, tenant, name);
    }
}
