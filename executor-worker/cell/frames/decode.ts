import {
  type BlockEnd,
  type CellFrame,
  cellErrors,
  cellFrameTypes,
  type KernelAccount,
  type KillReason,
  killReasons,
  frameLimits as limits,
  refusalReasons,
  startStages,
  stopCauses,
} from '@hotcell/contract/frames.ts';
import { postureRecordOf } from './decode-posture.ts';
import { broken, nameIn, Reader } from './reader.ts';

/** Decodes the payload of a whole frame. Bytes in the frame are views of `payload`. */
export function decodeFrame(type: number, payload: Buffer): CellFrame {
  const name = nameIn(cellFrameTypes, type, 'the type of frame');
  if (name === 'posture') return { type: 'posture', record: postureRecordOf(payload) };
  const reader = new Reader(payload, `the frame ${name}`);
  const frame = read(name, reader);
  reader.end();
  return frame;
}

function read(name: Exclude<keyof typeof cellFrameTypes, 'posture'>, r: Reader): CellFrame {
  switch (name) {
    case 'ready':
      return { type: 'ready', version: r.u16(), machine: word(r.str(64)) };
    case 'postureEnd':
      return { type: 'postureEnd', nonce: r.bytes(limits.nonceBytes), records: r.u32() };
    case 'blockStarted':
      return { type: 'blockStarted', index: r.u16(), program: r.u8(), atUs: r.u64() };
    case 'log':
      return logOf(r);
    case 'logLimit':
      return { type: 'logLimit', atUs: r.u64(), bytes: r.u64() };
    case 'logTail':
      return { type: 'logTail', droppedStdout: r.u64(), droppedStderr: r.u64() };
    case 'blockEnded':
      return blockEndedOf(r);
    case 'outputEntry': {
      const size = r.u64();
      return { type: 'outputEntry', size, path: pathOf(r) };
    }
    case 'outputData':
      return { type: 'outputData', bytes: r.rest(limits.chunkBytes) };
    case 'outputEnd':
      return { type: 'outputEnd', ok: flag(r.u8(), 'ok'), errno: r.u16() };
    case 'outputRefused':
      return {
        type: 'outputRefused',
        reason: nameIn(refusalReasons, r.u8(), 'the reason of a refused output'),
        errno: r.u16(),
        path: pathOf(r),
      };
    case 'end':
      return endOf(r);
    case 'error':
      return {
        type: 'error',
        code: nameIn(cellErrors, r.u16(), 'the error'),
        errno: r.u16(),
        text: word(r.str(limits.errorTextBytes)),
      };
  }
}

function logOf(r: Reader): CellFrame {
  const stream = r.u8();
  if (stream !== 1 && stream !== 2) throw broken(`a log frame is of the stream ${stream}`);
  return {
    type: 'log',
    stream: stream === 1 ? 'stdout' : 'stderr',
    tail: flag(r.u8(), 'tail'),
    index: r.u16(),
    atUs: r.u64(),
    bytes: r.rest(limits.logChunkBytes),
  };
}

function blockEndedOf(r: Reader): CellFrame {
  return {
    type: 'blockEnded',
    index: r.u16(),
    end: blockEndOf(r),
    ...causeOf(r),
    atUs: r.u64(),
    wallUs: r.u64(),
    logBytes: r.u64(),
    account: accountOf(r),
  };
}

function blockEndOf(r: Reader): BlockEnd {
  const [how, code, errno] = [r.u8(), r.u8(), r.u16()];
  if (how === 0) return { how: 'exited', exitCode: code };
  if (how === 1 && code >= 1 && code <= 64) return { how: 'signalled', signal: code };
  if (how === 2) return { how: 'notStarted', stage: nameIn(startStages, code, 'the stage'), errno };
  throw broken(`a block ended in the unknown way ${how}, ${code}`);
}

function causeOf(r: Reader): { cause: keyof typeof stopCauses; killReason: KillReason | undefined } {
  const cause = nameIn(stopCauses, r.u8(), 'the cause');
  const reason = r.u8();
  if ((cause === 'killed') !== (reason !== 0)) throw broken(`the cause ${cause} comes with the kill reason ${reason}`);
  return { cause, killReason: reason === 0 ? undefined : nameIn(killReasons, reason, 'the kill reason') };
}

function accountOf(r: Reader): KernelAccount {
  return {
    cpuUs: r.known(),
    peakMemoryBytes: r.known(),
    oomKills: r.known(),
    maxRssBytes: r.known(),
    peakPids: r.known(),
    pidsRefused: r.known(),
    atMemoryLimit: isKnown(r.known()),
    networkTries: r.known(),
  };
}

const isKnown = (value: number | undefined) => (value === undefined ? undefined : flag(value, 'at the memory limit'));

function endOf(r: Reader): CellFrame {
  const end = {
    ...causeOf(r),
    blocks: r.u16(),
    wallUs: r.u64(),
    account: accountOf(r),
    stdoutBytes: r.u64(),
    stderrBytes: r.u64(),
    droppedBytes: r.u64(),
    outputFiles: r.u32(),
    outputBytes: r.u64(),
    outputsRefused: r.u64(),
  };
  const flags = r.u8();
  if (flags > 7) throw broken(`the frame end has the unknown flags ${flags}`);
  return {
    type: 'end',
    end: {
      ...end,
      outputFilesExceeded: (flags & 1) !== 0,
      outputBytesExceeded: (flags & 2) !== 0,
      outputsIncomplete: (flags & 4) !== 0,
    },
  };
}

/** Any bytes that a name in /outputs can have; the output collector decides whether they can be shown. */
function pathOf(r: Reader): Buffer {
  const path = r.str(limits.pathBytes);
  if (path.length === 0) throw broken('an output has no name');
  if (path.includes(0)) throw broken("an output's path has a NUL");
  return path;
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
