import { HotcellError } from '@hotcell/contract/errors.ts';
import { inPreload, livesOn } from '@hotcell/contract/frames.ts';
import type { Collected, RunEnd } from './frames/decode.ts';
import { type EndedBlock, type CellEvent, type MemoryKill, OutputLost } from './sealed-cell.ts';
import { encodeName } from '../outputs/output-names.ts';
import type { PreparedBlock } from '../execute/job.ts';
import { blockEndOf, errnoName, initError, outOfOrder, refusedOf } from './cell-events.ts';
import type { Talk } from './talk.ts';

export interface Hearing {
  talk: Talk;
  blocks: readonly PreparedBlock[];
  startedAt: () => Date;
  logLimitEnds: boolean;
  /** Whether the engine saw the kernel kill, once the cell is over: asked if a block failed and init knows of no cause. */
  killedForMemory: () => Promise<MemoryKill>;
  /** The same while the cell goes on, asked after each block that succeeded: the engine may not know yet. */
  killedSoFar: () => Promise<MemoryKill>;
}

/** Init's frames as events, in order. True if init sent its last frame, false if the stream ended before it. */
export async function* cellEvents(heard: Hearing): AsyncGenerator<CellEvent, boolean> {
  const { talk, blocks, startedAt, logLimitEnds } = heard;
  const last = blocks.length - 1;
  const at = (us: number) => new Date(startedAt().getTime() + us / 1000);
  let listed = 0;
  let ofOutputs = 0;
  let unexplained: number | undefined;
  let succeeded: number | undefined;
  let killed: MemoryKill = false;
  for (let frame = await talk.next(); frame !== undefined; frame = await talk.next()) {
    switch (frame.type) {
      case 'blockStarted':
        yield {
          type: 'block_started',
          index: frame.index,
          at: at(frame.atUs),
          livesOn: frame.program === livesOn,
          ...(frame.program === inPreload ? { preloaded: true } : {}),
        };
        break;
      case 'log':
        yield {
          type: 'log',
          block: frame.index,
          stream: frame.stream,
          at: at(frame.atUs),
          bytes: asBuffer(frame.bytes),
        };
        break;
      case 'logLimit':
        yield { type: 'log_limit', at: at(frame.atUs), ends: logLimitEnds };
        break;
      case 'logTail':
        yield { type: 'log_gap', droppedBytes: frame.droppedStdout + frame.droppedStderr };
        break;
      case 'blockEnded': {
        const end = blockEndOf(frame, blocks[frame.index]);
        unexplained = isUnexplained(end) ? end.index : undefined;
        succeeded = end.exitCode === 0 && !killed ? end.index : undefined;
        yield { type: 'block_ended', at: at(frame.atUs), end };
        // After the last block it is asked as late as possible: at the end.
        if (succeeded === undefined || succeeded === last) break;
        killed = await heard.killedSoFar();
        yield* toldOf(succeeded, killed);
        break;
      }
      case 'said':
        yield { type: 'said', index: frame.index, kind: frame.kind, bytes: asBuffer(frame.bytes) };
        break;
      case 'stepOver':
        yield { type: 'step_over', index: frame.index };
        break;
      case 'workLeft':
        yield { type: 'work_left', names: frame.names.map(encodeName), more: frame.more };
        break;
      case 'outputEntry': {
        let isRead = false;
        const data = outputData(talk, frame.size, () => {
          isRead = true;
        });
        yield { type: 'output', path: asBuffer(frame.path), size: frame.size, data };
        if (!isRead) throw new HotcellError('stream_broken', 'An output was not read to its end.');
        break;
      }
      case 'outputRefused':
        listed++;
        yield refusedOf(frame);
        break;
      case 'workspaceBegins':
        [ofOutputs, listed] = [listed, 0];
        yield { type: 'workspace_begins' };
        break;
      case 'workspaceEnd':
        yield* unlisted(frame.end, listed);
        listed = ofOutputs;
        yield { type: 'workspace_end', whole: !frame.end.outputsIncomplete };
        break;
      case 'end':
        yield* unlisted(frame.end, listed);
        if (unexplained !== undefined) yield* toldOf(unexplained, await heard.killedForMemory());
        if (succeeded === last) yield* toldOf(last, await heard.killedSoFar());
        yield { type: 'end', usage: usageOf(frame.end), timedOut: frame.end.cause === 'runTime' };
        return true;
      case 'error':
        throw initError(frame);
      case 'ready':
      case 'posture':
      case 'postureEnd':
      case 'preloaded':
      case 'outputData':
      case 'outputEnd':
        throw outOfOrder(frame);
    }
  }
  return false;
}

function* toldOf(index: number, kill: MemoryKill): Generator<CellEvent> {
  if (kill) yield { type: 'killed_for_memory', index, for: kill };
}

function isUnexplained(end: EndedBlock): boolean {
  return !end.said && !end.timedOut && end.startError === null && end.oomKills === 0 && end.exitCode !== 0;
}

/** The refused outputs that no frame named and only END counts. */
function* unlisted(end: Collected, listed: number): Generator<CellEvent> {
  const refused = (reason: string, limit: 'outputBytes' | 'outputFiles' | null): CellEvent => ({
    type: 'output_refused',
    path: Buffer.from('…'),
    reason,
    limit,
  });
  const more = end.outputsRefused - listed;
  const limit = end.outputFilesExceeded ? 'outputFiles' : end.outputBytesExceeded ? 'outputBytes' : null;
  if (more > 0) yield refused(`${more} more were refused`, limit);
  if (end.outputsIncomplete)
    yield refused('the collector ran out of memory and was killed; there may have been more outputs', null);
}

function usageOf(end: RunEnd): Extract<CellEvent, { type: 'end' }>['usage'] {
  return {
    wallMs: Math.round(end.wallUs / 1000),
    cpuMs: Math.round((end.account.cpuUs ?? 0) / 1000),
    peakMemoryBytes: end.account.peakMemoryBytes ?? end.account.maxRssBytes ?? 0,
  };
}

/** One output's bytes, as they come. To be read once; `ended` is called when there is nothing more to read. */
async function* outputData(talk: Talk, size: number, ended: () => void): AsyncGenerator<Buffer> {
  let seen = 0;
  for (let frame = await talk.next(); frame !== undefined; frame = await talk.next()) {
    if (frame.type === 'outputData') {
      seen += frame.bytes.length;
      if (seen > size) throw outOfOrder(frame);
      yield asBuffer(frame.bytes);
    } else if (frame.type === 'outputEnd') {
      ended();
      if (!frame.ok) throw new OutputLost(`it could not be read to its end (${errnoName(frame.errno)})`);
      if (seen !== size) throw outOfOrder(frame);
      return;
    } else throw frame.type === 'error' ? initError(frame) : outOfOrder(frame);
  }
  // The next event says how the cell died, and whether the job caused it.
  ended();
  throw new OutputLost('the cell died while it was being read');
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
