import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { decide, type Stop } from '@hotcell/contract/decide-outcome.ts';
import { Outcome } from '@hotcell/contract/outcomes.ts';
import { block, facts, limits } from './ended-facts.ts';

describe('the outcome of a run', () => {
  const anyBlock = fc.record({
    index: fc.constant(0),
    exitCode: fc.option(fc.integer({ min: 0, max: 255 })),
    signal: fc.option(fc.integer({ min: 1, max: 31 })),
    timedOut: fc.boolean(),
    oomKills: fc.integer({ min: 0, max: 2 }),
    killedByHost: fc.boolean(),
    networkTries: fc.nat(3),
    startError: fc.option(fc.constant('no such program')),
    wallMs: fc.nat(),
    peakMemoryBytes: fc.nat(),
  });
  const anyFacts = fc.record({
    runtime: fc.constantFrom('runc' as const, 'gvisor' as const),
    policy: fc.constant('analytics'),
    lacking: fc.option(fc.constant({ what: 'program', name: 'jq', package: 'jq' } as const), { nil: undefined }),
    inputs: fc.constant([]),
    workLeft: fc.option(fc.constant({ names: ['a'], more: true }), { nil: undefined }),
    limits: fc.constant(limits),
    blocks: fc.integer({ min: 1, max: 3 }),
    ended: fc.array(anyBlock, { maxLength: 3 }),
    stop: fc.option(
      fc.constantFrom<Stop>(
        { kind: 'cancelled', by: 'a', reason: 'b' },
        { kind: 'log_exceeded' },
        { kind: 'lost_claim' },
        { kind: 'draining' },
      ),
    ),
    died: fc.option(
      fc.record({ exitCode: fc.option(fc.nat(255)), outOfMemory: fc.boolean(), killedByHost: fc.boolean() }),
    ),
    ranMs: fc.nat(),
    logBytes: fc.nat(),
    logTruncated: fc.boolean(),
    outputsExceeded: fc.constantFrom(null, 'outputBytes' as const, 'outputFiles' as const),
    noRoom: fc.constantFrom(null, 'The tenant has no room.'),
    kept: fc.record({ bytes: fc.nat(), files: fc.nat(), refused: fc.nat() }),
  });
  test('is exactly one with a reason, for every combination of exit, signal, memory, limit and cancel', () => {
    fc.assert(
      fc.property(anyFacts, (any) => {
        const decision = decide(any);
        assert.deepEqual(decide(structuredClone(any)), decision);
        if (decision.kind === 'platform') return assert.ok(decision.message.length > 10);
        assert.ok(Outcome.options.includes(decision.outcome));
        assert.ok(decision.reason.length > 10);
        // No outcome but a cancel may follow a cancel, and nothing is called memory without the kernel's word.
        if (any.stop?.kind === 'cancelled') assert.equal(decision.outcome, 'cancelled');
        if (decision.outcome === 'out_of_memory')
          assert.ok(any.died?.outOfMemory || (any.ended.at(-1)?.oomKills ?? 0) > 0);
        if (decision.outcome === 'succeeded') assert.equal(any.ended.at(-1)?.exitCode, 0);
      }),
      { numRuns: 5000 },
    );
  });

  /** Each of these with each of the others. */
  const ways = {
    runtime: ['runc', 'gvisor'],
    how: [{ exitCode: 0 }, { exitCode: 3 }, { exitCode: 137 }, { exitCode: null, signal: 9 }, { startError: 'none' }],
    timedOut: [false, true],
    oomKills: [0, 2],
    killedByHost: [false, true],
    stop: [null, { kind: 'cancelled', by: 'ann', reason: 'enough' }, { kind: 'log_exceeded' }, { kind: 'draining' }],
    died: [
      null,
      { exitCode: 137, outOfMemory: true, killedByHost: false },
      { exitCode: 137, outOfMemory: false, killedByHost: false },
      { exitCode: 137, outOfMemory: false, killedByHost: true },
    ],
    outputsExceeded: [null, 'outputBytes', 'outputFiles'],
    logTruncated: [false, true],
  } as const;
  const combinations = Object.entries(ways).reduce<Record<string, unknown>[]>(
    (all, [name, values]) => all.flatMap((one) => values.map((value) => ({ ...one, [name]: value }))),
    [{}],
  ) as unknown as { [K in keyof typeof ways]: (typeof ways)[K][number] }[];
  /** The first of these that is true, in the order in which causes come. */
  const expected = ({
    how,
    timedOut,
    oomKills,
    killedByHost,
    stop,
    died,
    outputsExceeded,
  }: (typeof combinations)[number]) => {
    if (stop?.kind === 'cancelled') return 'cancelled';
    if (stop?.kind === 'log_exceeded') return 'output_exceeded';
    if (stop) return 'platform';
    if (timedOut) return 'timed_out';
    if (died) return died.outOfMemory ? 'out_of_memory' : 'platform';
    if ('startError' in how) return 'failed';
    if (how.exitCode !== 0 && oomKills > 0) return killedByHost ? 'platform' : 'out_of_memory';
    if (how.exitCode !== 0) return outputsExceeded === 'outputBytes' ? 'output_exceeded' : 'failed';
    return outputsExceeded ? 'output_exceeded' : 'succeeded';
  };
  const limitNamed: Partial<Record<Outcome, RegExp>> = {
    timed_out: /limit of 60 s, .* --timeout/,
    out_of_memory: /limit of 512 MiB .* --memory/,
    output_exceeded: /limit of (8 MiB|64 MiB|1000) .* limits\.(logBytes|outputBytes|outputFiles)/,
  };
  test(`is the first cause, in each of ${combinations.length} combinations, and names the limit, its value and what to ask for`, () => {
    for (const one of combinations) {
      const { how, timedOut, oomKills, killedByHost, ...rest } = one;
      const decision = decide(facts({ ...rest, ended: [block({ ...how, timedOut, oomKills, killedByHost })] }));
      const outcome = decision.kind === 'platform' ? 'platform' : decision.outcome;
      assert.equal(outcome, expected(one), JSON.stringify(one));
      if (decision.kind === 'platform') continue;
      assert.match(decision.reason, limitNamed[decision.outcome] ?? /\w+ \w+/, JSON.stringify(one));
      const isWarned = decision.warnings.some((warning) => warning.includes('killed 2 of its processes'));
      if (decision.outcome === 'succeeded') assert.equal(isWarned, oomKills > 0);
    }
  });
});
