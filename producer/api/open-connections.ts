import type { Server, Socket } from 'node:net';
import type { Logger } from '@hotcell/outside/process/log.ts';
import { type Doors, strangersAtOnce } from '../bounds/doors.ts';

/**
 * Bounds the connections of this process. Those of known clients are a share, like everything else. A client is a
 * stranger until it shows a key. Where there are too many strangers, the one that has been one for longest is cut off: a
 * client with a key shows it at once, so that connections that are only held open keep out no one.
 */
export class OpenConnections {
  readonly #strangers = new Set<Socket>();
  readonly #doors: Pick<Doors, 'connections'>;
  readonly #log: Logger;

  constructor(server: Server, { doors, log }: { doors: Pick<Doors, 'connections'>; log: Logger }) {
    this.#doors = doors;
    this.#log = log;
    server.on('connection', (socket) => this.#meet(socket));
  }

  /** `too_many` or `overloaded` if its tenant has no room for another connection; what it asks for is then refused. */
  recognise(socket: Socket, tenant: string): void {
    if (!this.#strangers.has(socket)) return;
    const giveBack = this.#doors.connections.take(tenant, 1);
    this.#strangers.delete(socket);
    socket.once('close', giveBack);
    if (socket.closed) giveBack();
  }

  #meet(socket: Socket): void {
    this.#strangers.add(socket);
    socket.once('close', () => this.#strangers.delete(socket));
    const [oldest] = this.#strangers;
    if (!oldest || this.#strangers.size <= strangersAtOnce) return;
    this.#strangers.delete(oldest);
    oldest.destroy();
    this.#log.info({ from: oldest.remoteAddress }, 'too many connections have shown no key; the oldest was cut off');
  }
}
