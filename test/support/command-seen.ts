import { once } from 'node:events';
import { connect } from 'node:net';
import { createInterface } from 'node:readline';

/**
 * Resolves when Valkey takes such a command of any client. It speaks to Valkey by itself: where another client's command
 * comes in the same packet as the answer to MONITOR, ioredis takes the one for an answer that it did not ask for.
 */
export async function commandSeen(redisUrl: string, isWanted: (line: string) => boolean): Promise<void> {
  const { hostname, port, username, password } = new URL(redisUrl);
  const socket = connect(Number(port), hostname);
  await once(socket, 'connect');
  const user = decodeURIComponent(username) || 'default';
  if (password !== '') socket.write(`AUTH ${user} ${decodeURIComponent(password)}\r\n`);
  socket.write('MONITOR\r\n');
  try {
    for await (const line of createInterface(socket)) {
      if (line.startsWith('-')) throw new Error(line);
      if (isWanted(line)) return;
    }
    throw new Error('Valkey closed the connection');
  } finally {
    socket.destroy();
  }
}
