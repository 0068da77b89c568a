import type { RunId } from '@hotcell/contract/names.ts';
import type { Result } from '@hotcell/contract/result.ts';
import type { Spec } from '@hotcell/contract/spec.ts';
import { chained, type ChainedStep, unended } from '@hotcell/contract/session/step.ts';
import type { Buckets } from './buckets.ts';
import { readSession, readStep, readStepResult } from './session-steps.ts';

/**
 * The steps of a session whose worker can't tell any more: every finished one with its result, the one that was running
 * as lost, and those that were still to come.
 */
async function readChain(store: Buckets, tenant: string, run: RunId): Promise<ChainedStep[]> {
  const session = await readSession(store, tenant, run);
  const chain: ChainedStep[] = [];
  while (session) {
    const link = await readStep(store, tenant, run, chain.length);
    if (link?.value.kind !== 'step') return chain;
    const ended = await readStepResult(store, session, chain.length);
    chain.push(ended ? chained(ended.value, ended.digest, chain) : unended(link.value, link.digest, 'lost'));
    if (!ended) break;
  }
  return [...chain, ...(await readUnrun(store, { tenant, run }, chain))];
}

/** The steps that were recorded behind these, to which the session did not come. */
export async function readUnrun(
  store: Buckets,
  { tenant, run }: { tenant: string; run: RunId },
  ran: readonly ChainedStep[],
): Promise<ChainedStep[]> {
  const unrun: ChainedStep[] = [];
  for (;;) {
    const link = await readStep(store, tenant, run, ran.length + unrun.length);
    if (link?.value.kind !== 'step') return unrun;
    unrun.push(unended(link.value, link.digest, null));
  }
}

/**
 * The steps of a result where no cell reports them. Without a spec, only the record says whether the run is a session.
 */
export async function stepsInRecord(
  store: Buckets,
  { tenant, run }: { tenant: string; run: RunId },
  spec: Spec | undefined,
): Promise<Pick<Result, 'steps'>> {
  if (spec && spec.mode !== 'session') return {};
  const steps = await readChain(store, tenant, run);
  return spec || steps.length > 0 ? { steps } : {};
}
