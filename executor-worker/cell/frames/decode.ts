import {
  cellErrors,
  cellFrameTypes,
  type StartStage,
  killReasons,
  frameLimits as limits,
  refusalReasons,
  startStages,
  stopCauses,
} from '@hotcell/contract/frames.ts';
import { postureRecordOf } from './decode-posture.ts';
import { broken, nameIn, Reader } from './reader.ts';

const streams = { stdout: 1, stderr: 2 } as const;

/**
 * What init sends: each frame's payload, read in the order of its bytes. The type of a frame follows from its reader.
 * Times are microseconds of the cell's monotonic clock since START.
 */
const readers = {
  ready: (r: Reader) => ({ version: r.u16(), machine: word(r.str(64)) }),
  posture: (r: Reader) => ({ record: postureRecordOf(r) }),
  postureEnd: (r: Reader) => ({ nonce: r.bytes(limits.nonceBytes), records: r.u32() }),
  blockStarted: (r: Reader) => ({ index: r.u16(), program: r.u8(), atUs: r.u64() }),
  log: (r: Reader) => ({
    stream: nameIn(streams, r.u8(), 'the stream of a log frame'),
    tail: flag(r.u8(), 'tail'),
    index: r.u16(),
    atUs: r.u64(),
    bytes: r.rest(limits.logChunkBytes),
  }),
  /** The head is full: nothing more is sent until logTail. */
  logLimit: (r: Reader) => ({ atUs: r.u64(), bytes: r.u64() }),
  /** After the last block: how much was dropped between head and tail. The tail follows as log frames. */
  logTail: (r: Reader) => ({ droppedStdout: r.u64(), droppedStderr: r.u64() }),
  /** `logBytes`: everything it wrote, sent or not. */
  blockEnded: (r: Reader) => ({
    index: r.u16(),
    end: blockEndOf(r),
    ...causeOf(r),
    atUs: r.u64(),
    wallUs: r.u64(),
    logBytes: r.u64(),
    account: accountOf(r),
  }),
  /** `path` is raw bytes, relative to /outputs. `size` bytes follow as outputData, then outputEnd. */
  outputEntry: (r: Reader) => ({ size: r.u64(), path: pathOf(r) }),
  outputData: (r: Reader) => ({ bytes: r.rest(limits.chunkBytes) }),
  outputEnd: (r: Reader) => ({ ok: flag(r.u8(), 'ok'), errno: r.u16() }),
  /** `path` is cut off at outputPathBytes. */
  outputRefused: (r: Reader) => ({
    reason: nameIn(refusalReasons, r.u8(), 'the reason of a refused output'),
    errno: r.u16(),
    path: pathOf(r),
  }),
  /** The preload says that it is ready: a hint. */
  preloaded: () => ({}),
  end: (r: Reader) => ({ end: runEndOf(r) }),
  /** What the job left at the top of /work, a folder with a slash behind it. `more`: there may be others. */
  workLeft: (r: Reader) => ({ more: flag(r.u8(), 'more'), names: namesOf(r) }),
  /** What the interpreter says of its step: the job's word. */
  said: (r: Reader) => ({ index: r.u16(), kind: r.u8(), bytes: r.most(limits.saidBytes) }),
  /** All of the step has been sent. */
  stepOver: (r: Reader) => ({ index: r.u16() }),
  /** From here on the outputs that follow are files of /work. */
  workspaceBegins: () => ({}),
  workspaceEnd: (r: Reader) => ({ end: collectedOf(r) }),
  /** The cell ends after it. */
  error: (r: Reader) => ({
    code: nameIn(cellErrors, r.u16(), 'the error'),
    errno: r.u16(),
    text: word(r.str(limits.errorTextBytes)),
  }),
} satisfies Record<keyof typeof cellFrameTypes, (r: Reader) => object>;

type FrameOf<Name extends keyof typeof readers> = { type: Name } & ReturnType<(typeof readers)[Name]>;
export type CellFrame = { [Name in keyof typeof readers]: FrameOf<Name> }[keyof typeof readers];

/** Decodes the payload of a whole frame. Bytes in the frame are views of `payload`. */
export function decodeFrame(type: number, payload: Buffer): CellFrame {
  const name = nameIn(cellFrameTypes, type, 'the type of frame');
  const reader = new Reader(payload, `the frame ${name}`);
  const fields = readers[name](reader);
  reader.end();
  // The reader of that name made the fields.
  return { type: name, ...fields } as CellFrame;
}

export type BlockEnd =
  | { how: 'exited'; exitCode: number }
  | { how: 'signalled'; signal: number }
  | { how: 'notStarted'; stage: StartStage; errno: number }
  /** Of a step: its interpreter says that it is done, and lives on. */
  | { how: 'said' };

function blockEndOf(r: Reader): BlockEnd {
  const [how, code, errno] = [r.u8(), r.u8(), r.u16()];
  if (how === 0) return { how: 'exited', exitCode: code };
  if (how === 1 && code >= 1 && code <= 64) return { how: 'signalled', signal: code };
  if (how === 2) return { how: 'notStarted', stage: nameIn(startStages, code, 'the stage'), errno };
  if (how === 3 && code === 0) return { how: 'said' };
  throw broken(`a block ended in the unknown way ${how}, ${code}`);
}

function causeOf(r: Reader) {
  const cause = nameIn(stopCauses, r.u8(), 'the cause');
  const reason = r.u8();
  if ((cause === 'killed') !== (reason !== 0)) throw broken(`the cause ${cause} comes with the kill reason ${reason}`);
  return { cause, killReason: reason === 0 ? undefined : nameIn(killReasons, reason, 'the kill reason') };
}

/** Undefined where the kernel does not report it. */
const accountOf = (r: Reader) => ({
  /** From the cgroup, with init's own part; without a cgroup, from the processes that init waited for. */
  cpuUs: r.known(),
  /** The whole cell since it was made, with tmpfs. */
  peakMemoryBytes: r.known(),
  /** Kills for lack of memory during this block, or in `end` during the run. */
  oomKills: r.known(),
  /** The largest process that init waited for. */
  maxRssBytes: r.known(),
  peakPids: r.known(),
  /** How often the cgroup refused a process because of pids.max. */
  pidsRefused: r.known(),
  /** Whether the cell ever came to its own memory limit: otherwise kills are for its host's lack of memory. */
  atMemoryLimit: isKnown(r.known()),
  /** Packets and connections to outside, and questions to the resolver that a cell does not have. */
  networkTries: r.known(),
});

const isKnown = (value: number | undefined) => (value === undefined ? undefined : flag(value, 'at the memory limit'));

export type RunEnd = ReturnType<typeof runEndOf>;
export type Collected = ReturnType<typeof collectedOf>;

function runEndOf(r: Reader) {
  const end = {
    ...causeOf(r),
    /** How many blocks started. */
    blocks: r.u16(),
    wallUs: r.u64(),
    account: accountOf(r),
    stdoutBytes: r.u64(),
    stderrBytes: r.u64(),
    droppedBytes: r.u64(),
  };
  return { ...end, ...collectedOf(r) };
}

/** What a collector says at its end, of /outputs or of /work. */
function collectedOf(r: Reader) {
  const collected = {
    outputFiles: r.u32(),
    outputBytes: r.u64(),
    /** All refused outputs, also those beyond the list's bound. */
    outputsRefused: r.u64(),
  };
  const flags = r.u8();
  if (flags > 7) throw broken(`the end of a collection has the unknown flags ${flags}`);
  return {
    ...collected,
    outputFilesExceeded: (flags & 1) !== 0,
    outputBytesExceeded: (flags & 2) !== 0,
    /** The collector itself died for lack of memory: the list is incomplete. */
    outputsIncomplete: (flags & 4) !== 0,
  };
}

/** Any bytes that a name in /outputs can have; the output collector decides whether they can be shown. */
function pathOf(r: Reader): Buffer {
  const path = r.str(limits.pathBytes);
  if (path.length === 0) throw broken('an output has no name');
  if (path.includes(0)) throw broken("an output's path has a NUL");
  return path;
}

function namesOf(r: Reader): Buffer[] {
  const count = r.u8();
  if (count < 1 || count > limits.workLeft) throw broken(`${count} names of files in /work came`);
  return Array.from({ length: count }, () => pathOf(r));
}

function flag(value: number, what: string): boolean {
  if (value > 1) throw broken(`the flag ${what} is ${value}`);
  return value === 1;
}

/** Init's own text is ASCII. */
function word(bytes: Buffer): string {
  if (bytes.some((byte) => byte < 0x20 || byte > 0x7e)) throw broken('a word of init is not printable');
  return bytes.toString('latin1');
}
