import type { Socket } from 'node:net';
import { HotcellError } from '@hotcell/contract/errors.ts';
import { KeeperRequest, keeperLineBytes } from '@hotcell/contract/keeper-protocol.ts';
import { parseJsonAs } from '@hotcell/contract/parse.ts';

/** How long a worker may take to say what it wants. */
const withinMs = 10_000;

/**
 * Reads exactly one line and stops. What follows the go-ahead belongs to the cell and must not pass through this process:
 * so a worker that says more than a line before it has the answer is refused.
 */
export async function readRequest(socket: Socket): Promise<KeeperRequest> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  let held = Buffer.alloc(0);
  const refuse = (message: string) => reject(new HotcellError('invalid', message));
  const take = (bytes: Buffer) => {
    held = Buffer.concat([held, bytes]);
    const end = held.indexOf(10);
    if (end >= 0 && end < held.length - 1) return refuse('The request goes on behind its line: wait for the answer.');
    if (held.length > keeperLineBytes) return refuse(`The request is longer than ${keeperLineBytes} bytes.`);
    if (end >= 0) resolve(held.subarray(0, end).toString('utf8'));
  };
  const late = setTimeout(() => refuse(`The request did not come within ${withinMs / 1000} s.`), withinMs);
  const ended = () => refuse('The connection ended before the request did.');
  socket.on('data', take).once('end', ended);
  try {
    return parseJsonAs(KeeperRequest, await promise, 'The request');
  } finally {
    clearTimeout(late);
    socket.off('data', take).off('end', ended).pause();
  }
}
