import { connect, type Socket } from 'node:net';
import { HotcellError, messageOf } from '@hotcell/contract/errors.ts';
import {
  type KeeperAnswer,
  keeperAnswer,
  KeeperRefusal,
  type KeeperRequest,
  keeperLineBytes,
  type MakeCell,
} from '@hotcell/contract/keeper-protocol.ts';
import { parseAs, parseJsonAs } from '@hotcell/contract/parse.ts';
import { z } from 'zod';

const Answer = z.union([z.strictObject({ ok: z.unknown() }), KeeperRefusal]);

type Control = Exclude<KeeperRequest, MakeCell>;

/** Generous: a busy host is not a broken one. `end` waits as long as it was asked to. */
const boundMs = 60_000;
/** A list of all cells, or a posture with its mounts. */
const mostBytes = 64 * keeperLineBytes;

/** The only door to the keeper. Every call is bounded in time: a keeper that hangs costs one attempt. */
export class KeeperDoor {
  readonly #path: string;

  constructor(path: string) {
    this.#path = path;
  }

  async ask<A extends Control['ask']>(request: Control & { ask: A }): Promise<KeeperAnswer<A>> {
    const more = 'withinMs' in request ? request.withinMs : 0;
    const { socket, answer } = await this.#said(request.ask, request, boundMs + more);
    socket.destroy();
    return answer;
  }

  /** The connection is the cell's stdin and stdout from the answer on. */
  async make(request: MakeCell): Promise<{ socket: Socket; uid: number }> {
    const { socket, answer } = await this.#said('make', request, boundMs);
    return { socket, uid: answer.uid };
  }

  async #said<A extends KeeperRequest['ask']>(
    ask: A,
    request: KeeperRequest,
    ms: number,
  ): Promise<{ socket: Socket; answer: KeeperAnswer<A> }> {
    const socket = connect(this.#path);
    try {
      const text = await firstLine(socket, `${JSON.stringify(request)}\n`, ms);
      const said = parseJsonAs(Answer, text, `the keeper's answer to ${ask}`, 'engine_unavailable');
      if ('error' in said) throw new HotcellError(said.error.code, said.error.message);
      const answer = parseAs<z.ZodType>(
        keeperAnswer(ask),
        said.ok,
        `the keeper's answer to ${ask}`,
        'engine_unavailable',
      );
      return { socket, answer: answer as KeeperAnswer<A> };
    } catch (error) {
      socket.destroy();
      throw error;
    }
  }
}

/** Sends a line and resolves to the line that comes back. What comes behind it stays in the stream. */
async function firstLine(socket: Socket, line: string, ms: number): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  let held = Buffer.alloc(0);
  const fail = (why: string, cause?: unknown) => {
    const message = `The keeper did not answer: ${why}. Check that it runs and that this user may use its socket.`;
    reject(new HotcellError('engine_unavailable', message, { cause }));
  };
  const take = (bytes: Buffer) => {
    held = Buffer.concat([held, bytes]);
    const end = held.indexOf(10);
    if (end < 0) return held.length > mostBytes && fail('its line does not end');
    socket.pause().off('data', take);
    if (end + 1 < held.length) socket.unshift(held.subarray(end + 1));
    resolve(held.subarray(0, end).toString('utf8'));
  };
  const late = setTimeout(() => fail(`not within ${ms / 1000} s`), ms);
  socket
    .on('data', take)
    // Stays for as long as the connection: an error after the last read would end the process.
    .on('error', (error) => fail(messageOf(error), error))
    .once('close', () => fail('it closed the connection'));
  socket.write(line);
  try {
    return await promise;
  } finally {
    clearTimeout(late);
  }
}
