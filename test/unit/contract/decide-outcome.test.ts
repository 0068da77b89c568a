import assert from 'node:assert/strict';
import { constants } from 'node:os';
import { describe, test } from 'node:test';
import { decide, type Stop } from '@hotcell/contract/decide-outcome.ts';
import { block, ended, facts, limits } from './ended-facts.ts';

describe('the outcome of a run', () => {
  test('is succeeded when every block exits with 0', () => {
    assert.equal(ended({}).outcome, 'succeeded');
    assert.equal(ended({}).exitCode, 0);
  });
  test('is not decided while a block never ran and nothing says why: the platform failed', () => {
    for (const outputsExceeded of [null, 'outputBytes'] as const)
      assert.equal(decide(facts({ blocks: 2, ended: [block()], outputsExceeded })).kind, 'platform');
  });
  test('says which block failed, where a run has several', () => {
    const failed = block({ exitCode: 1 });
    assert.equal(ended({ ended: [failed] }).reason, 'Your code failed (exit code 1). See the log above.');
    const second = ended({ blocks: 3, ended: [block(), { ...failed, index: 1 }] });
    assert.equal(second.reason, 'Block 1 failed (exit code 1). See the log above.');
  });
  test('is failed with the program’s own exit code, also 137 and 124', () => {
    for (const exitCode of [1, 7, 124, 125, 137, 255]) {
      const decision = ended({ ended: [block({ exitCode })] });
      assert.equal(decision.outcome, 'failed');
      assert.equal(decision.exitCode, exitCode);
    }
  });
  test('is failed with 128 and the signal when a signal ended the program', () => {
    const decision = ended({ ended: [block({ exitCode: null, signal: 9 })] });
    assert.deepEqual([decision.outcome, decision.exitCode], ['failed', 137]);
    assert.match(decision.reason, /SIGKILL/);
  });
  test('is out_of_memory only when the kernel says that it killed for memory', () => {
    assert.equal(ended({ ended: [block({ exitCode: null, signal: 9, oomKills: 1 })] }).outcome, 'out_of_memory');
    assert.equal(ended({ ended: [block({ exitCode: 1, oomKills: 2 })] }).outcome, 'out_of_memory');
    assert.match(ended({ ended: [block({ exitCode: 1, oomKills: 2 })] }).reason, /512 MiB.*--memory/);
  });
  test('is succeeded with a warning when a killed child did not keep the program from ending well', () => {
    const decision = ended({ ended: [block({ oomKills: 1 })] });
    assert.equal(decision.outcome, 'succeeded');
    assert.match(decision.warnings.join(), /killed 1 of its processes for lack of memory/);
  });
  test('names the limit of the block or of the run, whichever was reached', () => {
    assert.match(
      ended({ ended: [block({ timedOut: true, exitCode: null, signal: 15 })], ranMs: 60_010 }).reason,
      /^The run reached its time limit of 60 s, after .*--timeout/,
    );
    const tight = ended({
      limits: { ...limits, blockTimeoutSeconds: 2 },
      ended: [block({ timedOut: true, exitCode: null, signal: 15, wallMs: 2_005 })],
      ranMs: 2_005,
    });
    assert.match(tight.reason, /^Block 0 reached its time limit of 2 s.*blockTimeoutSeconds/);
  });
  test('is what we stopped it for, whatever the program did when it was told to end', () => {
    const stop: Stop = { kind: 'cancelled', by: 'ann', reason: 'wrong data' };
    for (const last of [
      block(),
      block({ exitCode: 1 }),
      block({ exitCode: null, signal: 15 }),
      block({ timedOut: true }),
    ])
      assert.deepEqual(ended({ stop, ended: [last] }).reason, 'Cancelled by ann: wrong data');
  });
  test('of a cell that died is the kernel’s to say: memory, or the platform’s failure', () => {
    assert.equal(ended({ ended: [], died: { exitCode: 137, outOfMemory: true } }).outcome, 'out_of_memory');
    assert.match(
      ended({ runtime: 'gvisor', ended: [], died: { exitCode: 137, outOfMemory: true } }).reason,
      /gVisor ended the whole sandbox/,
    );
    assert.equal(decide(facts({ ended: [], died: { exitCode: 137, outOfMemory: false } })).kind, 'platform');
  });
  test('is output_exceeded when a program that ended well wrote more than it may', () => {
    assert.equal(ended({ outputsExceeded: 'outputBytes' }).outcome, 'output_exceeded');
    assert.equal(ended({ outputsExceeded: 'outputFiles' }).outcome, 'output_exceeded');
  });
  test('is output_exceeded also when the program failed at its full /outputs, and says both', () => {
    const noRoom = 'The tenant t has no room for 2 MiB more in its quota storedBytes: it uses 9 MiB of 10 MiB.';
    const kept = { bytes: 2048, files: 2, refused: 1 };
    assert.deepEqual(ended({ noRoom, kept, outputsExceeded: 'outputFiles' }), {
      ...ended({}),
      outcome: 'output_exceeded',
      reason: `${noRoom} Of the outputs, the run kept 2 KiB in 2 files, refused 1.`,
    });
    assert.equal(ended({ noRoom, ended: [block({ exitCode: 3 })] }).outcome, 'failed');
    const full = ended({ ended: [block({ exitCode: 3 })], outputsExceeded: 'outputBytes' });
    assert.deepEqual([full.outcome, full.exitCode], ['output_exceeded', 3]);
    assert.match(full.reason, /limit of 64 MiB.*Your code failed \(exit code 3\)/);
    // No program is refused a file for its number: files are counted when they are collected.
    assert.equal(ended({ ended: [block({ exitCode: 3 })], outputsExceeded: 'outputFiles' }).outcome, 'failed');
  });

  test('says which limit of ours a signal of the kernel stands for', () => {
    const bySignal = (signal: number) => ended({ ended: [block({ exitCode: null, signal })] }).reason;
    assert.match(bySignal(constants.signals.SIGXFSZ), /SIGXFSZ.*limit of 953.7 MiB for one file.*limits\.fileBytes/);
    assert.match(bySignal(constants.signals.SIGSYS), /SIGSYS.*no cell allows/);
  });
  test('says of outputs how much is kept and how much was refused', () => {
    const kept = { bytes: 3 * 1024 * 1024, files: 1, refused: 2 };
    assert.match(
      ended({ outputsExceeded: 'outputBytes', kept }).reason,
      /limit of 64 MiB \(kept 3 MiB in 1 file, refused 2\)\. Write less, or .*limits\.outputBytes/,
    );
    assert.match(ended({ outputsExceeded: 'outputFiles', kept }).reason, /limit of 1000 \(.*\)\. Write fewer/);
  });
  test('is the time that ran out, although the cell died of something else while its outputs were taken', () => {
    for (const outOfMemory of [true, false]) {
      const late = block({ timedOut: true, exitCode: null, signal: 9 });
      const decision = ended({ ended: [late], died: { exitCode: 137, outOfMemory } });
      assert.equal(decision.outcome, 'timed_out');
      assert.match(decision.reason, /its outputs are lost/);
    }
  });

  test('says how often the run tried to reach the network: as its reason if that may explain it, else as a warning', () => {
    const failed = ended({
      blocks: 2,
      ended: [block({ networkTries: 1 }), block({ index: 1, exitCode: 1, networkTries: 2 })],
    });
    const hint = /It tried to reach the network 3 times, and the policy analytics seals it: bring data as inputs/;
    assert.match(failed.reason, /^Block 1 failed \(exit code 1\)\. See the log above\. It tried/);
    assert.match(failed.reason, hint);
    assert.match(ended({ ended: [block({ timedOut: true, networkTries: 3 })] }).reason, hint);
    const fine = ended({ ended: [block({ networkTries: 3 })] });
    assert.deepEqual([fine.outcome, fine.reason], ['succeeded', 'Your code ended with exit code 0.']);
    assert.match(fine.warnings.join(), hint);
    const quiet = ended({ ended: [block({ exitCode: 1 })] });
    assert.equal(quiet.reason, 'Your code failed (exit code 1). See the log above.');
  });
  test('is the platform’s failure if the kernel killed for the host’s lack of memory', () => {
    const killed = block({ exitCode: null, signal: 9, oomKills: 1, killedByHost: true });
    const decision = decide(facts({ ended: [killed] }));
    assert.equal(decision.kind, 'platform');
    assert.match(decision.message, /killed 1 process of the run for the host's lack of memory/);
    const survived = ended({ ended: [{ ...killed, exitCode: 0, signal: null }] });
    assert.equal(survived.outcome, 'succeeded');
    assert.match(survived.warnings.join(), /killed 1 of its processes for the host’s lack of memory/);
  });
  test('names what the failed code said that it lacks', () => {
    const lacking = { what: 'Python module', name: 'sklearn', package: 'scikit-learn' } as const;
    assert.match(
      ended({ ended: [block({ exitCode: 1 })], lacking }).reason,
      /failed \(exit code 1\)\. See the log above\. .* lacks the Python module sklearn \(of the package scikit-learn\)/,
    );
    assert.doesNotMatch(ended({ lacking }).reason, /sklearn/);
  });

  test('names what was left in /work, where nothing is kept', () => {
    const left = (names: string[], more = false) => ended({ workLeft: { names, more } }).warnings;
    assert.deepEqual(left(['out.csv']), ['out.csv was not kept: write it to /outputs.']);
    assert.deepEqual(left(['a', 'b/']), ['a and b/ were not kept: write them to /outputs.']);
    assert.deepEqual(left(['a', 'b'], true), ['a, b and more were not kept: write them to /outputs.']);
  });
});
