import type { RefusalReason, StartStage } from '@hotcell/contract/frames.ts';
import type { BlockEnd, CellFrame } from './frames/decode.ts';
import { HotcellError } from '@hotcell/contract/errors.ts';
import { constants } from 'node:os';
import type { EndedBlock, CellEvent } from './sealed-cell.ts';
import type { PreparedBlock } from '../execute/job.ts';

/** From init's frames to the worker's events. */

const ms = (us: number) => Math.round(us / 1000);

export function errnoName(errno: number): string {
  return Object.entries(constants.errno).find(([, number]) => number === errno)?.[0] ?? `errno ${errno}`;
}

const stages: Readonly<Record<StartStage, string>> = {
  file: 'its file could not be written to /work',
  fork: 'no process could be started for it',
  setup: 'its process could not be set up',
  exec: 'its program could not be run',
};

function startErrorOf(stage: StartStage, errno: number, program: string): string {
  if (stage !== 'exec') return `${stages[stage]} (${errnoName(errno)})`;
  const { ENOENT, EACCES, ENOEXEC } = constants.errno;
  if (errno === ENOENT) return `the image has no ${program}: use an image that has it, or another language`;
  if (errno === EACCES) return `${program} is not executable`;
  if (errno === ENOEXEC) return `${program} is not a program for this machine; a script needs a #! line`;
  return `${stages.exec}: ${program} (${errnoName(errno)})`;
}

export function blockEndOf(
  frame: Extract<CellFrame, { type: 'blockEnded' }>,
  block: PreparedBlock | undefined,
): EndedBlock {
  const { account, cause } = frame;
  const { oomKills = 0 } = account;
  return {
    index: frame.index,
    ...howEnded(frame.end, block?.argv[0] ?? 'the program'),
    ...(cause === 'interrupted' ? { interrupted: true } : {}),
    timedOut: cause === 'blockTime' || cause === 'runTime',
    oomKills,
    killedByHost: oomKills > 0 && account.atMemoryLimit === false,
    ...(frame.end.how === 'said' ? { said: true } : {}),
    networkTries: account.networkTries ?? 0,
    wallMs: ms(frame.wallUs),
    cpuMs: ms(account.cpuUs ?? 0),
    peakMemoryBytes: account.peakMemoryBytes ?? account.maxRssBytes ?? 0,
    logBytes: frame.logBytes,
  };
}

function howEnded(end: BlockEnd, program: string): Pick<EndedBlock, 'exitCode' | 'signal' | 'startError'> {
  switch (end.how) {
    case 'exited':
      return { exitCode: end.exitCode, signal: null, startError: null };
    case 'signalled':
      return { exitCode: null, signal: end.signal, startError: null };
    case 'said':
      return { exitCode: null, signal: null, startError: null };
    case 'notStarted':
      return { exitCode: null, signal: null, startError: startErrorOf(end.stage, end.errno, program) };
  }
}

const refusals: Readonly<Record<RefusalReason, string>> = {
  symlink: 'it is a symbolic link',
  hardlink: 'it has hard links',
  fifo: 'it is a fifo',
  socket: 'it is a socket',
  device: 'it is a device',
  tooDeep: 'its folders are nested too deeply',
  pathTooLong: 'its path is too long',
  tooManyFiles: 'it exceeds the limit of output files',
  tooManyBytes: 'it exceeds the limit of output bytes',
  unreadable: 'it could not be read',
  otherFilesystem: 'it is on another file system',
  unknownKind: 'it is of an unknown kind',
};

/** The reasons that are limits; the others are kinds of file that an output can't be. */
const limitOf: Partial<Record<RefusalReason, 'outputBytes' | 'outputFiles'>> = {
  tooManyFiles: 'outputFiles',
  tooManyBytes: 'outputBytes',
};

export function refusedOf(frame: Extract<CellFrame, { type: 'outputRefused' }>): CellEvent {
  const cause = frame.reason === 'unreadable' ? ` (${errnoName(frame.errno)})` : '';
  return {
    type: 'output_refused',
    path: Buffer.from(frame.path),
    reason: refusals[frame.reason] + cause,
    limit: limitOf[frame.reason] ?? null,
  };
}

/** Until the job starts, /work has only what the run brings: if that is too much, another cell would say the same. */
const doesNotFit =
  "The bundled files and the folders of the blocks don't fit into /work. Ask for more limits.scratchBytes or limits.scratchInodes, or freeze the files as a snapshot and use it as an input.";

const workspaceDoesNotFit = (errno: number) =>
  errno === constants.errno.EFBIG
    ? 'A file of the workspace is larger than limits.fileBytes. Ask for more, or use a smaller one.'
    : errno === constants.errno.ENOMEM
      ? "The workspace doesn't fit into the memory of the cell, in which /work lies. Ask for more limits.memoryBytes, or use a smaller one."
      : "The workspace doesn't fit into /work. Ask for more limits.scratchBytes or limits.scratchInodes, or use a smaller one.";

/** Another cell would say the same. */
const lacksRoom: readonly number[] = [constants.errno.ENOSPC, constants.errno.EFBIG, constants.errno.ENOMEM];

export function initError(frame: Extract<CellFrame, { type: 'error' }>): HotcellError {
  if (frame.code === 'workspace' && lacksRoom.includes(frame.errno)) {
    const message = workspaceDoesNotFit(frame.errno);
    return new HotcellError('policy_refused', message, { issues: [{ path: 'workspace', message }] });
  }
  if (frame.code === 'file' && frame.errno === constants.errno.ENOSPC)
    return new HotcellError('policy_refused', doesNotFit, { issues: [{ path: 'files', message: doesNotFit }] });
  if (frame.code === 'preload') return preloadFailed(frame.text);
  const errno = frame.errno === 0 ? '' : `, ${errnoName(frame.errno)}`;
  return new HotcellError('cell_failed', `The cell's init gave up: ${frame.text} (${frame.code}${errno}).`);
}

/** Another cell of this class would do the same: it may wait without the preload. */
export function preloadFailed(text: string): HotcellError {
  const issues = [{ path: preloadIssue, message: text }];
  return new HotcellError('cell_failed', `The cell ended because ${text}.`, { issues });
}

const preloadIssue = 'preload';

export function isPreloadFailure(error: unknown): boolean {
  return error instanceof HotcellError && error.issues.some(({ path }) => path === preloadIssue);
}

export function outOfOrder(frame: CellFrame): HotcellError {
  return new HotcellError('stream_broken', `The cell sent a ${frame.type} frame out of order.`);
}
