import { Readable } from 'node:stream';
import { HotcellError } from '@hotcell/contract/errors.ts';
import type { FastifyReply } from 'fastify';
import type { GiveBack } from '@hotcell/outside/process/fair-share.ts';
import type { Producer } from '../producer.ts';

const beatMs = 15_000;

/** Aborted when the client has gone away or this process is asked to end. */
export function endsWith(reply: FastifyReply, producer: Producer): AbortSignal {
  const gone = new AbortController();
  reply.raw.once('close', () => gone.abort());
  return AbortSignal.any([gone.signal, producer.draining]);
}

/** Held for as long as this answer takes. */
export function heldFor(reply: FastifyReply, giveBack: GiveBack): void {
  reply.raw.once('close', giveBack);
  // A connection that closed before does not close a second time.
  if (reply.raw.closed) giveBack();
}

/** An answer whose long parts are JSON already: they come as bytes from a thread, and no object is made of them here. */
export function sendJson(reply: FastifyReply, head: object, parts: readonly (Uint8Array | string)[]): FastifyReply {
  const chunks = [`${JSON.stringify(head).slice(0, -1)},`, ...parts, '}'];
  const bytes = chunks.map((chunk) => (typeof chunk === 'string' ? Buffer.from(chunk) : chunk));
  return reply.type('application/json; charset=utf-8').send(Buffer.concat(bytes));
}

/**
 * An answer that is sent as it comes. It begins at once and has a heartbeat, so that neither a proxy nor a reader takes
 * silence for death. When we are drained the connection is broken, not ended: a client that saw a proper end would take
 * half a log for the whole.
 */
export function streamed(
  reply: FastifyReply,
  producer: Producer,
  type: string,
  beat: string,
  texts: AsyncIterable<string>,
): FastifyReply {
  return reply
    .type(type)
    .header('x-accel-buffering', 'no')
    .send(Readable.from(alive(producer, beat, texts)));
}

async function* alive(producer: Producer, beat: string, texts: AsyncIterable<string>): AsyncGenerator<string> {
  const iterator = texts[Symbol.asyncIterator]();
  try {
    yield beat;
    for (let next = iterator.next(); ; ) {
      const timer = Promise.withResolvers<'beat'>();
      const timeout = setTimeout(() => timer.resolve('beat'), beatMs);
      const step = await Promise.race([next, timer.promise]).finally(() => clearTimeout(timeout));
      if (step === 'beat') {
        yield beat;
        continue;
      }
      if (step.done) break;
      yield step.value;
      next = iterator.next();
    }
    if (producer.draining.aborted)
      throw new HotcellError('internal', 'This process is stopping. Ask again, after the last row.');
  } catch (error) {
    if (!producer.draining.aborted) producer.log.error({ err: error }, 'a stream failed');
    throw error;
  } finally {
    // It ends by its own signal and is not awaited here.
    iterator.return?.(undefined).catch(() => undefined);
  }
}

export async function* jsonLines(items: AsyncIterable<unknown>): AsyncGenerator<string> {
  for await (const item of items) yield `${JSON.stringify(item)}\n`;
}
