import { HotcellError } from '@hotcell/contract/errors.ts';
import type { Check } from './doctor/check.ts';
import { gatherMachine } from './doctor/gather-machine.ts';
import { judgeMachine } from './doctor/judge-facts.ts';
import type { EngineFacts } from './engine/engine-facts.ts';

/** Report everything that would make `up` fail, before anything is built or started. */
function refuseToBegin(checks: readonly Check[]): void {
  const fails = checks.filter((check) => check.status === 'fail');
  if (fails.length === 0) return;
  const said = fails.map(({ name, message, fix }) => `${name}: ${message}${fix ? `; ${fix}` : ''}`).join('\n');
  const issues = fails.map(({ name, message, fix }) => ({ path: name, message: fix ? `${message}; ${fix}` : message }));
  throw new HotcellError('engine_unavailable', `This machine can't run Hotcell yet:\n${said}`, { issues });
}

export async function preflight(home: string, tools: EngineFacts): Promise<void> {
  refuseToBegin(judgeMachine(await gatherMachine(home, tools)));
}
