import {
  cellErrors,
  cellFrameTypes,
  killReasons,
  protocol,
  refusalReasons,
  startStages,
  stopCauses,
} from '@hotcell/contract/frames.ts';
import type { CellFrame, RunEnd, Collected } from '@hotcell/executor-worker/cell/frames/decode.ts';
import { type PostureKind, postureFields } from '@hotcell/contract/frames-posture.ts';

/** Frames as init writes them, by docs/protocol.md: so that the parser is tried against words and not against itself. */
export function rawFrame(type: number, payload: Uint8Array): Buffer {
  const header = Buffer.from([protocol.magic, protocol.version, type, 0, 0, 0, 0, 0]);
  header.writeUInt32LE(payload.length, 4);
  return Buffer.concat([header, payload]);
}

export function cellBytes(frame: CellFrame): Buffer {
  return rawFrame(cellFrameTypes[frame.type], Buffer.concat(payloadOf(frame)));
}

const u8 = (value: number) => Buffer.from([value]);
const u16 = (value: number) => Buffer.from([value & 0xff, value >> 8]);
const u32 = (value: number) => u64(value).subarray(0, 4);
const u64 = (value: number | bigint) => {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(BigInt(value));
  return bytes;
};
const str = (bytes: Uint8Array | string) => {
  const buffer = Buffer.from(bytes as string);
  return Buffer.concat([u16(buffer.length), buffer]);
};
const unknown = 2n ** 64n - 1n;

const account = (a: RunEnd['account']) => {
  const atLimit = a.atMemoryLimit === undefined ? undefined : Number(a.atMemoryLimit);
  const processes = [a.cpuUs, a.peakMemoryBytes, a.oomKills, a.maxRssBytes, a.peakPids, a.pidsRefused];
  return [...processes, atLimit, a.networkTries].map((n) => u64(n ?? unknown));
};
const cause = (end: Pick<RunEnd, 'cause' | 'killReason'>) => [
  u8(stopCauses[end.cause]),
  u8(end.killReason === undefined ? 0 : killReasons[end.killReason]),
];

function payloadOf(f: CellFrame): Uint8Array[] {
  switch (f.type) {
    case 'ready':
      return [u16(f.version), str(f.machine)];
    case 'posture': {
      const { key, fields } = postureFields[f.record.key];
      const values = f.record as unknown as Record<string, number | string>;
      const kinds: [string, PostureKind][] = Object.entries(fields);
      return [u8(key), u8(kinds.length), ...kinds.map(([name, kind]) => postureValue(kind, values[name] ?? ''))];
    }
    case 'postureEnd':
      return [f.nonce, u32(f.records)];
    case 'blockStarted':
      return [u16(f.index), u8(f.program), u64(f.atUs)];
    case 'log':
      return [u8(f.stream === 'stdout' ? 1 : 2), u8(f.tail ? 1 : 0), u16(f.index), u64(f.atUs), f.bytes];
    case 'logLimit':
      return [u64(f.atUs), u64(f.bytes)];
    case 'logTail':
      return [u64(f.droppedStdout), u64(f.droppedStderr)];
    case 'blockEnded': {
      const { end } = f;
      const [how, code, errno] =
        end.how === 'exited'
          ? [0, end.exitCode, 0]
          : end.how === 'signalled'
            ? [1, end.signal, 0]
            : end.how === 'said'
              ? [3, 0, 0]
              : [2, startStages[end.stage], end.errno];
      const numbers = [u16(f.index), u8(how), u8(code), u16(errno)];
      return [...numbers, ...cause(f), u64(f.atUs), u64(f.wallUs), u64(f.logBytes), ...account(f.account)];
    }
    case 'outputEntry':
      return [u64(f.size), str(f.path)];
    case 'outputData':
      return [f.bytes];
    case 'outputEnd':
      return [u8(f.ok ? 1 : 0), u16(f.errno)];
    case 'outputRefused':
      return [u8(refusalReasons[f.reason]), u16(f.errno), str(f.path)];
    case 'workLeft':
      return [u8(f.more ? 1 : 0), u8(f.names.length), ...f.names.map((name) => str(name))];
    case 'said':
      return [u16(f.index), u8(f.kind), f.bytes];
    case 'stepOver':
      return [u16(f.index)];
    case 'preloaded':
      return [];
    case 'workspaceBegins':
      return [];
    case 'workspaceEnd':
      return collectedPayload(f.end);
    case 'end':
      return endPayload(f.end);
    case 'error':
      return [u16(cellErrors[f.code]), u16(f.errno), str(f.text)];
  }
}

function endPayload(end: RunEnd): Uint8Array[] {
  return [
    ...cause(end),
    u16(end.blocks),
    u64(end.wallUs),
    ...account(end.account),
    ...[end.stdoutBytes, end.stderrBytes, end.droppedBytes].map(u64),
    ...collectedPayload(end),
  ];
}

function collectedPayload(end: Collected): Uint8Array[] {
  const flags = [end.outputFilesExceeded, end.outputBytesExceeded, end.outputsIncomplete];
  return [
    u32(end.outputFiles),
    u64(end.outputBytes),
    u64(end.outputsRefused),
    u8(flags.reduce((sum, flag, bit) => sum + (flag ? 2 ** bit : 0), 0)),
  ];
}

function postureValue(kind: PostureKind, value: number | string): Buffer {
  if (kind === 'text') return Buffer.concat([u8(2), str(String(value))]);
  if (kind === 'hex') return Buffer.concat([u8(2), str(Buffer.from(String(value), 'hex'))]);
  const number = kind === 'mask' ? BigInt(`0x${value}`) : value === 'unlimited' ? unknown : BigInt(value);
  return Buffer.concat([u8(1), u64(number)]);
}
