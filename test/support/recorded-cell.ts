import type { TakenPosture } from '@hotcell/contract/posture.ts';
import { insideFacts } from '@hotcell/contract/posture/posture-facts.ts';
import { outsideFacts } from '@hotcell/executor-worker/cell/posture-outside.ts';
import { recorded } from '../unit/executor-worker/cell/recorded-postures.ts';

const mib = 2 ** 20;
const limit = (value: number) => ({ min: value, default: value, max: value });

/** What the policy of that cell says, in a policy's file: under it, its posture is what it should be. */
export const cellRules = {
  limits: {
    memoryBytes: limit(512 * mib),
    cpus: limit(1),
    pids: limit(128),
    openFiles: limit(1024),
    fileBytes: limit(1024 * mib),
    outputBytes: limit(100 * mib),
    outputFiles: limit(1000),
    scratchBytes: limit(100 * mib),
    scratchInodes: limit(10_000),
  },
  env: { image: ['A', 'MPLCONFIGDIR'] },
};

/** What a real cell on runc reported, and the engine of it, with what later versions of init look for as well. */
export function cellPosture(): TakenPosture {
  const { records, made } = recorded('runc');
  const inside = insideFacts([...records, { key: 'hidden', path: '/dev/pts', there: 0 }]);
  return { inside, outside: outsideFacts(made, '1'), worth: 'what it was worth' };
}
