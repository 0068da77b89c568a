import assert from 'node:assert/strict';
import type { CellFrame } from '@hotcell/executor-worker/cell/frames/decode.ts';
import { constants } from 'node:os';
import { test } from 'node:test';
import { blockEndOf, initError } from '@hotcell/executor-worker/cell/cell-events.ts';
import { prepareJob } from '@hotcell/executor-worker/execute/job.ts';
import { languages } from '@hotcell/contract/languages.ts';

const { ENOENT, EACCES, ENOEXEC, EPERM, ENOSPC } = constants.errno;
const [block] = prepareJob({ blocks: [{ argv: ['/bin/tool', '-x'] }], files: [] }, languages).blocks;
type Ended = Extract<CellFrame, { type: 'blockEnded' }>;
const endOf = (end: Ended['end'], more: Partial<Ended> = {}) =>
  blockEndOf(
    {
      type: 'blockEnded',
      index: 0,
      end,
      cause: 'none',
      killReason: undefined,
      atUs: 9_000_000,
      wallUs: 2_000_000,
      logBytes: 7,
      account: { cpuUs: 1_000_000, peakMemoryBytes: 5, oomKills: 2 },
      ...more,
    } as Ended,
    block,
  );

test('a program that could not be started says which and why', () => {
  const said = (errno: number) => endOf({ how: 'notStarted', stage: 'exec', errno }).startError;
  assert.equal(said(ENOENT), 'the image has no /bin/tool: use an image that has it, or another language');
  assert.equal(said(EACCES), '/bin/tool is not executable');
  assert.match(said(ENOEXEC) ?? '', /^\/bin\/tool is not a program for this machine/);
  assert.match(said(EPERM) ?? '', /\/bin\/tool \(EPERM\)$/);
  assert.match(endOf({ how: 'notStarted', stage: 'file', errno: ENOSPC }).startError ?? '', /\/work \(ENOSPC\)$/);
});

test('a block ends with its exit code or its signal, and with its account', () => {
  const { exitCode, signal, wallMs, cpuMs, peakMemoryBytes, oomKills, logBytes } = endOf({
    how: 'exited',
    exitCode: 3,
  });
  assert.deepEqual(
    { exitCode, signal, wallMs, cpuMs, peakMemoryBytes, oomKills, logBytes },
    { exitCode: 3, signal: null, wallMs: 2000, cpuMs: 1000, peakMemoryBytes: 5, oomKills: 2, logBytes: 7 },
  );
  const killed = endOf({ how: 'signalled', signal: 9 });
  assert.deepEqual([killed.exitCode, killed.signal, killed.startError], [null, 9, null]);
});

test('kills are the host’s if the cell never came to its own limit', () => {
  const exited = { how: 'signalled', signal: 9 } as const;
  const killedBy = (account: object) => endOf(exited, { account: account as Ended['account'] }).killedByHost;
  assert.equal(killedBy({ oomKills: 1, atMemoryLimit: false }), true);
  assert.equal(killedBy({ oomKills: 1, atMemoryLimit: true }), false);
  assert.equal(killedBy({ oomKills: 0, atMemoryLimit: false }), false);
  // A kernel that does not count them: the limit is the likelier cause.
  assert.equal(killedBy({ oomKills: 1 }), false);
});

test('only a time limit makes a block timed out', () => {
  const timedOut = (cause: Ended['cause']) => endOf({ how: 'signalled', signal: 9 }, { cause }).timedOut;
  assert.deepEqual((['none', 'blockTime', 'runTime', 'logLimit', 'killed'] as const).map(timedOut), [
    false,
    true,
    true,
    false,
    false,
  ]);
});

test('an error of init names the system’s error, if there is one', () => {
  const said = (errno: number) => initError({ type: 'error', code: 'system', errno, text: 'no pipe' }).message;
  assert.match(said(0), /no pipe \(system\)/);
  assert.match(said(ENOSPC), /no pipe \(system, ENOSPC\)/);
});

test('files that do not fit into /work are the run’s fault, and no other cell is tried', () => {
  const said = (errno: number) => initError({ type: 'error', code: 'file', errno, text: 'a bundled file' });
  assert.equal(said(ENOSPC).code, 'policy_refused');
  assert.equal(said(ENOSPC).retryable, false);
  assert.match(said(ENOSPC).message, /limits\.scratchBytes/);
  assert.equal(said(EPERM).code, 'cell_failed');
});
