import { ensureEngine } from '../engine/ensure-engine.ts';
import type { Progress } from '../progress.ts';
import type { Check } from './check.ts';
import { gatherFacts } from './gather.ts';
import { isHealthy, judge } from './judge-facts.ts';

export interface Diagnosis {
  healthy: boolean;
  checks: Check[];
}

/** Looks at everything `up` relies on. Nothing is changed. */
export async function examine(env: NodeJS.ProcessEnv): Promise<Diagnosis> {
  const checks = judge(await gatherFacts(env));
  return { healthy: isHealthy(checks), checks };
}

/** What can be repaired here is: the engine, its plugins, gVisor. The rest stays with its command in the diagnosis. */
export async function repair(progress: Progress, options: { yes: boolean }): Promise<void> {
  await ensureEngine(progress, options);
}
