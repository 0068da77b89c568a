import type { Check } from './check.ts';
import type { Facts, MachineFacts } from './doctor-facts.ts';
import { judgeCells } from './judge-cells.ts';
import { judgeEngine, judgeKindOfEngine, judgeTools, judgeVersions } from './judge-engine.ts';
import {
  judgeArchitecture,
  judgeClock,
  judgeCores,
  judgeDisk,
  judgeMemory,
  judgeNode,
  judgePorts,
  oldKernel,
} from './judge-machine.ts';
import { judgeImages, judgeProbes, judgeServices, judgeView } from './judge-services.ts';

/** Whether the machine and its engine can run Hotcell. */
export function judgeMachine(facts: MachineFacts): Check[] {
  return [
    judgeNode(facts),
    judgeEngine(facts),
    ...judgeTools(facts),
    ...judgeKindOfEngine(facts),
    ...judgeVersions(facts),
    ...judgeArchitecture(facts),
    ...oldKernel(facts),
    ...judgeDisk(facts),
    judgeMemory(facts),
    judgeClock(facts),
    ...judgeCores(facts),
  ];
}

/** From facts to checks. It is pure, so that tests can try every case without such a machine. */
export function judgeFacts(facts: Facts): Check[] {
  // A keeper brings a gVisor of its own: that of the engine serves nothing then.
  const isOfEngine = ({ name }: Check) => name === 'gVisor' && facts.cells?.way === 'keeper';
  return [
    ...judgeMachine(facts).filter((check) => !isOfEngine(check)),
    judgePorts(facts),
    ...judgeImages(facts),
    judgeServices(facts),
    ...judgeCells(facts),
    ...judgeView(facts),
    ...judgeProbes(facts),
  ];
}

export function isHealthy(checks: readonly Check[]): boolean {
  return checks.every((check) => check.status !== 'fail');
}
