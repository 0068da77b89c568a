import type { Digest } from '@hotcell/contract/digest.ts';
import { Receipt } from '@hotcell/contract/evidence/receipt.ts';
import { HotcellError } from '@hotcell/contract/errors.ts';
import type { RunId } from '@hotcell/contract/names.ts';
import { parseJsonAs } from '@hotcell/contract/parse.ts';
import type { Spec } from '@hotcell/contract/spec.ts';
import type { Buckets } from './buckets.ts';
import { erasedOr } from './erasures.ts';
import { objects } from './objects.ts';
import { hashedForm } from './long-work.ts';
import { putFirstFormed, readStored, sizeOf, type Stored } from './read-write.ts';

export interface PinnedSpec {
  spec: Spec;
  digest: Digest;
  /** The promise of the producer that accepted it, which lies beside it. */
  receipt?: Receipt | undefined;
}
type FoundSpec = PinnedSpec & Pick<Stored<Spec>, 'unknown'>;

/** The first spec that is written for a run is its spec: answers the one that stands. */
export async function putSpec(
  store: Buckets,
  spec: Spec,
  promise: (spec: Spec, digest: Digest) => Receipt,
): Promise<PinnedSpec & { receipt: Receipt; isFirst: boolean }> {
  const { tenant, run, retention } = spec;
  const formed = await hashedForm(spec);
  const metadata = { [receiptName]: JSON.stringify(promise(spec, formed.digest)) };
  const stands = await putFirstFormed(
    store,
    objects.spec,
    retention,
    { value: spec, ...formed, metadata },
    tenant,
    run,
  );
  const found = pinned(stands, tenant, run);
  const isFirst = stands.digest === formed.digest;
  return { ...found, receipt: found.receipt ?? promise(found.spec, found.digest), isFirst };
}

/** The receipt alone, of a spec that may be large. */
export async function findReceipt(store: Buckets, tenant: string, run: RunId): Promise<Receipt | undefined> {
  const found = await store.head(store.record, objects.spec.key(tenant, run));
  return receiptIn(found?.metadata);
}

const receiptName = 'hotcell-receipt';

/** One that cannot be read is no reason to refuse its run: the promise is worth what its holder can show. */
function receiptIn(metadata: Stored<Spec>['metadata']): Receipt | undefined {
  const text = metadata?.[receiptName];
  if (text === undefined) return undefined;
  try {
    return parseJsonAs(Receipt, text, 'the receipt', 'record_damaged');
  } catch {
    return undefined;
  }
}

/** For a caller without a digest to compare: before there is an open marker. */
export async function findSpec(store: Buckets, tenant: string, run: RunId): Promise<FoundSpec | undefined> {
  const found = await readStored(store, objects.spec, tenant, run);
  return found && { ...pinned(found, tenant, run), unknown: found.unknown };
}

export async function specBytes(store: Buckets, tenant: string, run: RunId): Promise<number> {
  return (await sizeOf(store, objects.spec, tenant, run)) ?? 0;
}

/** Believed only if it has, byte for byte, the digest that the ticket, the marker or the result names. */
export async function readSpec(store: Buckets, tenant: string, run: RunId, digest: Digest): Promise<Spec> {
  return (await specOfDigest(store, tenant, run, digest)).spec;
}

/** To execute it: a spec with fields that this version does not know asks for more than this version can do. */
export async function readKnownSpec(
  store: Buckets,
  tenant: string,
  run: RunId,
  digest: Digest,
): Promise<Omit<PinnedSpec, 'digest'>> {
  const { spec, unknown, receipt } = await specOfDigest(store, tenant, run, digest);
  if (unknown.length > 0) throw newerThanThis('The spec of this run', unknown);
  return { spec, receipt };
}

/** For what may be executed only by those who know all of it. */
export function newerThanThis(what: string, unknown: readonly string[]): HotcellError {
  const fields = unknown.slice(0, 10).join(', ');
  return new HotcellError('newer_version', `${what} has fields that this version does not know: ${fields}.`);
}

async function specOfDigest(store: Buckets, tenant: string, run: RunId, digest: Digest): Promise<FoundSpec> {
  const found = await findSpec(store, tenant, run);
  const what = `the spec of run ${run}`;
  if (!found) {
    const missing = `${what} is missing, so the worker does not know what to run.`;
    throw await erasedOr(store, tenant, run, new HotcellError('record_damaged', missing));
  }
  if (found.digest !== digest)
    throw new HotcellError(
      'record_damaged',
      `${what} was altered: its digest is ${found.digest}, and ${digest} was accepted.`,
    );
  return found;
}

function pinned(
  { value: spec, digest, metadata }: Pick<Stored<Spec>, 'value' | 'digest' | 'metadata'>,
  tenant: string,
  run: RunId,
): PinnedSpec {
  if (spec.run !== run || spec.tenant !== tenant)
    throw new HotcellError(
      'record_damaged',
      `The key of run ${run}'s spec (tenant ${tenant}) holds the spec of run ${spec.run} (tenant ${spec.tenant}).`,
    );
  return { spec, digest, receipt: receiptIn(metadata) };
}
