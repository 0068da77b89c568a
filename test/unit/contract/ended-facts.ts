import assert from 'node:assert/strict';
import { type BlockFacts, decide, type OutcomeFacts } from '@hotcell/contract/decide-outcome.ts';
import { testLimits } from '../../support/limits.ts';

/** Small round numbers, which the sentences name. */
export const limits = {
  ...testLimits,
  timeoutSeconds: 60,
  blockTimeoutSeconds: 60,
  memoryBytes: 512 * 1024 ** 2,
  fileBytes: 1e9,
  logBytes: 8 * 1024 ** 2,
};
/** A block that ended well, but for what a test says of it. */
export const block = (more: Partial<BlockFacts> = {}): BlockFacts => ({
  index: 0,
  exitCode: 0,
  signal: null,
  timedOut: false,
  oomKills: 0,
  killedByHost: false,
  networkTries: 0,
  startError: null,
  wallMs: 10,
  peakMemoryBytes: 1000,
  ...more,
});
/** A run of one such block. */
export const facts = (more: Partial<OutcomeFacts> = {}): OutcomeFacts => ({
  runtime: 'runc',
  policy: 'analytics',
  limits,
  blocks: 1,
  ended: [block()],
  lacking: undefined,
  inputs: [],
  workLeft: undefined,
  stop: null,
  died: null,
  ranMs: 10,
  logBytes: 0,
  logTruncated: false,
  outputsExceeded: null,
  noRoom: null,
  kept: { bytes: 0, files: 0, refused: 0 },
  ...more,
});

export function ended(more: Partial<OutcomeFacts>) {
  const decision = decide(facts(more));
  assert.equal(decision.kind, 'ended');
  return decision;
}
