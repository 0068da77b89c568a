/** A thread that parses long request bodies. */
import { answerCalls } from '@hotcell/outside/process/thread-calls.ts';
import { parseBody } from './body.ts';

const calls = {
  parseBody: (bytes: Uint8Array) => parseBody(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)),
};
export type BodyCalls = typeof calls;

answerCalls(() => calls);
