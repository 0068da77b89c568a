import { type Digest, digestOf } from '@hotcell/contract/digest.ts';
import { HotcellError } from '@hotcell/contract/errors.ts';
import type { RunId } from '@hotcell/contract/names.ts';
import type { Spec } from '@hotcell/contract/spec.ts';
import type { Buckets } from './buckets.ts';
import { objects } from './objects.ts';
import { putFirst, readStored } from './read-write.ts';

export interface PinnedSpec {
  spec: Spec;
  digest: Digest;
}

/** The first spec that is written for a run is its spec: answers the one that stands. */
export async function putSpec(store: Buckets, spec: Spec): Promise<PinnedSpec> {
  const stands = await putFirst(store, objects.spec, spec, spec.tenant, spec.run);
  return pinned(stands, digestOf(stands), spec.tenant, spec.run);
}

/** For a caller without a digest to compare: before there is an open marker. */
export async function findSpec(store: Buckets, tenant: string, run: RunId): Promise<PinnedSpec | undefined> {
  const found = await readStored(store, objects.spec, tenant, run);
  return found && pinned(found.value, found.digest, tenant, run);
}

/** Believed only if it has, byte for byte, the digest that the ticket, the marker or the result names. */
export async function readSpec(store: Buckets, tenant: string, run: RunId, digest: Digest): Promise<Spec> {
  const found = await findSpec(store, tenant, run);
  const what = `the spec of run ${run}`;
  if (!found) throw new HotcellError('record_damaged', `${what} is missing, so the worker does not know what to run.`);
  if (found.digest !== digest)
    throw new HotcellError(
      'record_damaged',
      `${what} was altered: its digest is ${found.digest}, and ${digest} was accepted.`,
    );
  return found.spec;
}

function pinned(spec: Spec, digest: Digest, tenant: string, run: RunId): PinnedSpec {
  if (spec.run !== run || spec.tenant !== tenant)
    throw new HotcellError(
      'record_damaged',
      `The key of run ${run}'s spec (tenant ${tenant}) holds the spec of run ${spec.run} (tenant ${spec.tenant}).`,
    );
  return { spec, digest };
}
