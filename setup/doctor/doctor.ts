import { ensureEngine } from '../engine/ensure-engine.ts';
import type { SetupProgress } from '../progress.ts';
import type { Check } from './check.ts';
import { gatherFacts } from './gather.ts';
import { isHealthy, judgeFacts } from './judge-facts.ts';

export interface Diagnosis {
  healthy: boolean;
  checks: Check[];
}

/** Checks everything that `up` relies on. Changes nothing. */
export async function examine(env: NodeJS.ProcessEnv): Promise<Diagnosis> {
  const checks = judgeFacts(await gatherFacts(env));
  return { healthy: isHealthy(checks), checks };
}

/** Repairs the engine, its plugins and gVisor. For all else the diagnosis names the command to run. */
export async function repair(progress: SetupProgress, options: { yes: boolean }): Promise<void> {
  await ensureEngine(progress, options);
}
