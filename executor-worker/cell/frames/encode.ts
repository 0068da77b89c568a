import { HotcellError } from '@hotcell/contract/errors.ts';
import {
  type HostFrame,
  hostFrameTypes,
  killReasons,
  protocol,
  rlimitNumbers,
  frameLimits as limits,
} from '@hotcell/contract/frames.ts';

/** A frame's bytes. Refuses what init would refuse, with the name of the field. */
export function encodeFrame(frame: HostFrame): Buffer {
  const payload = payloadOf(frame);
  const length = payload.reduce((sum, part) => sum + part.length, 0);
  bounded(`the frame ${frame.type}`, length, limits.payloadBytes);
  const header = Buffer.alloc(protocol.headerBytes);
  header.writeUInt8(protocol.magic, 0);
  header.writeUInt8(protocol.version, 1);
  header.writeUInt8(hostFrameTypes[frame.type], 2);
  header.writeUInt32LE(length, 4);
  return Buffer.concat([header, ...payload]);
}

function payloadOf(frame: HostFrame): Uint8Array[] {
  switch (frame.type) {
    case 'hello':
      return [
        uint(frame.uid, 4, 'uid'),
        uint(frame.gid, 4, 'gid'),
        uint(frame.lifetimeMs, 8, 'lifetimeMs'),
        uint(bounded('rlimits', frame.rlimits.length, limits.rlimits), 1, 'rlimits'),
        ...frame.rlimits.flatMap(({ name, value }) => [uint(rlimitNumbers[name], 1, name), uint(value, 8, name)]),
        uint(frame.cpus, 2, 'cpus'),
        uint(frame.firstCpu, 2, 'firstCpu'),
      ];
    case 'env':
      return [str(frame.name, limits.envBytes, 'env name'), str(frame.value, limits.envBytes, `env ${frame.name}`)];
    case 'seal':
      return [exact(frame.nonce, limits.nonceBytes, 'nonce')];
    case 'job':
      return jobPayload(frame.limits);
    case 'file':
      bounded(`the file ${frame.path}`, frame.size, limits.fileBytes);
      return [
        uint(frame.size, 8, 'size'),
        exact(frame.sha256, 32, 'sha256'),
        str(frame.path, limits.pathBytes, 'path'),
      ];
    case 'block':
    case 'preload':
      return blockPayload(frame);
    case 'fileData':
    case 'blockData':
      if (frame.bytes.length === 0) throw refused(`the frame ${frame.type} has no bytes`);
      bounded(`the frame ${frame.type}`, frame.bytes.length, limits.chunkBytes);
      return [frame.bytes];
    case 'start':
    case 'interrupt':
    case 'finish':
      return [];
    case 'workspace':
      return [uint(frame.mostBytes, 8, 'mostBytes'), uint(frame.mostFiles, 4, 'mostFiles')];
    case 'session':
      return [uint(frame.saidBytes, 8, 'saidBytes')];
    case 'step':
      return [
        uint(frame.inInterpreter ? 1 : 0, 1, 'inInterpreter'),
        uint(bounded('collect', frame.collect.length, limits.collected), 1, 'collect'),
        ...frame.collect.map((path) => str(path, limits.pathBytes, 'a path to collect')),
      ];
    case 'kill':
      return [uint(killReasons[frame.reason], 1, 'reason')];
  }
}

function jobPayload(job: Extract<HostFrame, { type: 'job' }>['limits']): Uint8Array[] {
  return [
    uint(job.runMs, 8, 'runMs'),
    uint(job.lifetimeMs, 8, 'lifetimeMs'),
    uint(job.graceMs, 4, 'graceMs'),
    uint(job.logHeadBytes, 8, 'logHeadBytes'),
    uint(bounded('logTailBytes', job.logTailBytes, limits.logTailBytes), 4, 'logTailBytes'),
    uint(job.logLimitEnds ? 1 : 0, 1, 'logLimitEnds'),
    uint(job.outputBytes, 8, 'outputBytes'),
    uint(job.outputFiles, 4, 'outputFiles'),
    uint(bounded('outputDepth', job.outputDepth, limits.outputDepth), 2, 'outputDepth'),
    uint(bounded('outputPathBytes', job.outputPathBytes, limits.pathBytes), 2, 'outputPathBytes'),
  ];
}

function blockPayload(block: Extract<HostFrame, { type: 'block' | 'preload' }>): Uint8Array[] {
  const words = (list: readonly string[], what: string) => list.map((word) => str(word, limits.argBytes, what));
  bounded(`the code of block ${block.index}`, block.size, limits.codeBytes);
  return [
    uint(block.index, 2, 'index'),
    uint(block.timeMs, 8, 'timeMs'),
    uint(block.size, 4, 'size'),
    exact(block.sha256, 32, 'sha256'),
    str(block.path, limits.pathBytes, 'path'),
    uint(bounded('programs', block.programs.length, limits.programs), 1, 'programs'),
    ...words(block.programs, 'a program'),
    uint(bounded('args', block.args.length, limits.args), 2, 'args'),
    ...words(block.args, 'an argument'),
  ];
}

function uint(value: number, bytes: 1 | 2 | 4 | 8, what: string): Buffer {
  if (!Number.isSafeInteger(value) || value < 0 || value >= 2 ** (8 * bytes))
    throw refused(`${what} is ${value}: a whole number of at most ${bytes} bytes is needed`);
  const buffer = Buffer.alloc(bytes);
  if (bytes === 8) buffer.writeBigUInt64LE(BigInt(value));
  else buffer.writeUIntLE(value, 0, bytes);
  return buffer;
}

function str(text: string, most: number, what: string): Buffer {
  const bytes = Buffer.from(text, 'utf8');
  if (bytes.includes(0)) throw refused(`${what} has a NUL byte, which nothing in a cell can hold`);
  bounded(what, bytes.length, Math.min(most, 0xffff));
  return Buffer.concat([uint(bytes.length, 2, what), bytes]);
}

function exact(bytes: Uint8Array, length: number, what: string): Uint8Array {
  if (bytes.length !== length) throw refused(`${what} has ${bytes.length} bytes instead of ${length}`);
  return bytes;
}

function bounded(what: string, value: number, most: number): number {
  if (value > most) throw refused(`${what} is ${value}, more than the ${most} that a cell takes`);
  return value;
}

function refused(message: string): HotcellError {
  return new HotcellError('invalid', message);
}
