import type { RunId } from '@hotcell/contract/names.ts';
import { chained, type ChainedStep, unended } from '@hotcell/contract/session/step.ts';
import type { Buckets } from './buckets.ts';
import { readSession, readStep, readStepResult } from './session-steps.ts';

/**
 * The steps of a session whose worker can't tell any more: every finished one with its result, the one that was running
 * as lost, and those that were still to come.
 */
export async function readChain(store: Buckets, tenant: string, run: RunId): Promise<ChainedStep[]> {
  const session = await readSession(store, tenant, run);
  const chain: ChainedStep[] = [];
  let running = session !== undefined;
  for (;;) {
    const link = await readStep(store, tenant, run, chain.length);
    if (link?.value.kind !== 'step') return chain;
    const { value, digest } = link;
    const ended = session && running ? await readStepResult(store, session, value.index) : undefined;
    if (ended) chain.push(chained(ended.value, ended.digest, chain));
    else {
      const language = 'language' in value.block ? value.block.language : null;
      chain.push(unended(value, digest, language, running ? 'lost' : null));
      running = false;
    }
  }
}
