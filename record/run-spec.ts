import type { Digest } from '@hotcell/contract/digest.ts';
import { HotcellError } from '@hotcell/contract/errors.ts';
import type { RunId } from '@hotcell/contract/names.ts';
import type { Spec } from '@hotcell/contract/spec.ts';
import type { Buckets } from './buckets.ts';
import { objects } from './objects.ts';
import { putFirstKept, readStored, sizeOf, type Stored } from './read-write.ts';

export interface PinnedSpec {
  spec: Spec;
  digest: Digest;
}
type FoundSpec = PinnedSpec & Pick<Stored<Spec>, 'unknown'>;

/** The first spec that is written for a run is its spec: answers the one that stands. */
export async function putSpec(store: Buckets, spec: Spec): Promise<PinnedSpec> {
  const stands = await putFirstKept(store, objects.spec, spec.retention, spec, spec.tenant, spec.run);
  return pinned(stands.value, stands.digest, spec.tenant, spec.run);
}

/** For a caller without a digest to compare: before there is an open marker. */
export async function findSpec(store: Buckets, tenant: string, run: RunId): Promise<FoundSpec | undefined> {
  const found = await readStored(store, objects.spec, tenant, run);
  return found && { ...pinned(found.value, found.digest, tenant, run), unknown: found.unknown };
}

export async function specBytes(store: Buckets, tenant: string, run: RunId): Promise<number> {
  return (await sizeOf(store, objects.spec, tenant, run)) ?? 0;
}

/** Believed only if it has, byte for byte, the digest that the ticket, the marker or the result names. */
export async function readSpec(store: Buckets, tenant: string, run: RunId, digest: Digest): Promise<Spec> {
  return (await specOfDigest(store, tenant, run, digest)).spec;
}

/** To execute it: a spec with fields that this version does not know asks for more than this version can do. */
export async function readKnownSpec(store: Buckets, tenant: string, run: RunId, digest: Digest): Promise<Spec> {
  const { spec, unknown } = await specOfDigest(store, tenant, run, digest);
  if (unknown.length > 0) throw newerThanThis('The spec of this run', unknown);
  return spec;
}

/** For what may be executed only by those who know all of it. */
export function newerThanThis(what: string, unknown: readonly string[]): HotcellError {
  const fields = unknown.slice(0, 10).join(', ');
  return new HotcellError('newer_version', `${what} has fields that this version does not know: ${fields}.`);
}

async function specOfDigest(store: Buckets, tenant: string, run: RunId, digest: Digest): Promise<FoundSpec> {
  const found = await findSpec(store, tenant, run);
  const what = `the spec of run ${run}`;
  if (!found) throw new HotcellError('record_damaged', `${what} is missing, so the worker does not know what to run.`);
  if (found.digest !== digest)
    throw new HotcellError(
      'record_damaged',
      `${what} was altered: its digest is ${found.digest}, and ${digest} was accepted.`,
    );
  return found;
}

function pinned(spec: Spec, digest: Digest, tenant: string, run: RunId): PinnedSpec {
  if (spec.run !== run || spec.tenant !== tenant)
    throw new HotcellError(
      'record_damaged',
      `The key of run ${run}'s spec (tenant ${tenant}) holds the spec of run ${spec.run} (tenant ${spec.tenant}).`,
    );
  return { spec, digest };
}
