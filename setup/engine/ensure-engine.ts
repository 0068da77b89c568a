import { createInterface } from 'node:readline/promises';
import { HotcellError } from '@hotcell/contract/errors.ts';
import type { SetupProgress } from '../progress.ts';
import { type EngineFacts, gatherEngineFacts } from './engine-facts.ts';
import { addSources, install, registerRunsc, repairPackages } from './packages.ts';
import { describe, type EngineStep, planEngine, titleOf } from './engine-plan.ts';
import { reloadEngine, startEngine } from './start.ts';

/** Ask for consent to the plan. Without a terminal set-up can't ask, and a script must not hang. */
async function consent(plan: readonly string[], progress: SetupProgress, yes: boolean): Promise<void> {
  progress.note('To run Hotcell on this machine, set-up will:');
  for (const line of plan) progress.note(`  - ${line}`);
  if (yes || !process.stdin.isTTY || !process.stderr.isTTY) return;
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    const answer = await terminal.question('Go on? [Y/n] ');
    if (/^\s*(y|yes|)\s*$/i.test(answer)) return;
  } finally {
    terminal.close();
  }
  throw new HotcellError(
    'engine_unavailable',
    'You declined the plan, so nothing was changed. `./hotcell doctor` shows what is missing.',
  );
}

async function carryOut(step: EngineStep, facts: { systemd: boolean; answers: boolean }, say: (line: string) => void) {
  switch (step.kind) {
    case 'repair-packages':
      return await repairPackages(say);
    case 'add-sources':
      return await addSources(say);
    case 'install':
      return await install(step.packages, say);
    case 'register-runsc':
      await registerRunsc();
      // Only a running engine has to reload its settings.
      if (facts.answers) await reloadEngine(facts.systemd);
      return;
    case 'start':
      return await startEngine(facts.systemd, say);
  }
}

/** Get a running engine with compose, buildx and gVisor. Quick if nothing is missing. */
export async function ensureEngine(progress: SetupProgress, options: { yes: boolean }): Promise<EngineFacts> {
  const facts = await gatherEngineFacts();
  const steps = planEngine(facts);
  if (steps.length === 0) return facts;
  await consent(steps.map(describe), progress, options.yes);
  for (const step of steps) await progress.step(titleOf(step), (say) => carryOut(step, facts, say));
  return await gatherEngineFacts();
}
