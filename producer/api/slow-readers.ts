import type { Server, Socket } from 'node:net';
import type { Logger } from '@hotcell/outside/process/log.ts';
import { leastReadPerSecond } from '../bounds/doors.ts';
import { Pace } from '../bounds/pace.ts';

const looksInPatience = 10;

interface Watched {
  pace: Pace;
  /** Bytes that have left this process. */
  sent: number;
}

/**
 * Ends connections whose clients take their answers too slowly: what waits for them here is memory, and a download that
 * stands still keeps a connection to the store. Time counts only while something waits to be sent.
 */
export function dropSlowReaders(server: Server, patienceMs: number, log: Logger): void {
  const sockets = new Map<Socket, Watched>();
  const newPace = () => new Pace({ bytesPerSecond: leastReadPerSecond, patienceMs });
  server.on('connection', (socket) => {
    sockets.set(socket, { pace: newPace(), sent: 0 });
    socket.once('close', () => sockets.delete(socket));
  });
  let lookedAt = performance.now();
  const look = () => {
    const ms = performance.now() - lookedAt;
    lookedAt += ms;
    for (const [socket, watched] of sockets) {
      const pending = socket.writableLength;
      const sent = socket.bytesWritten - pending;
      if (pending === 0) watched.pace = newPace();
      else watched.pace.moved(sent - watched.sent, ms);
      watched.sent = sent;
      if (watched.pace.leftMs(pending) > 0) continue;
      log.info({ from: socket.remoteAddress, pending }, 'a client took its answer too slowly and was cut off');
      socket.destroy();
    }
  };
  const timer = setInterval(look, patienceMs / looksInPatience).unref();
  server.once('close', () => clearInterval(timer));
}
