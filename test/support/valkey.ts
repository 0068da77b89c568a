import { connect } from 'node:net';
import { must } from '@hotcell/setup/command.ts';
import type { Bed } from './bed.ts';
import { type OwnService, startService } from './own-service.ts';

export interface OwnValkey extends OwnService {
  /** The proxy's address. */
  readonly url: string;
  /** Runs one command with the server's own client. */
  cli(...words: string[]): Promise<string>;
}

/** A Valkey of a test's own, configured as in production. */
export async function startValkey(bed: Bed): Promise<OwnValkey> {
  const kept = ['--appendonly', 'yes', '--appendfsync', 'everysec', '--save', '', '--dir', '/data'];
  const memory = ['--maxmemory-policy', 'noeviction', '--hash-max-listpack-value', '1024'];
  const service = await startService(bed, {
    image: 'valkey',
    port: 6379,
    options: ['--volume', '/data', '--workdir', '/data'],
    words: [...kept, ...memory, '--protected-mode', 'no'],
    answers: pong,
  });
  return {
    ...service,
    url: `redis://127.0.0.1:${service.proxy.port}`,
    cli: (...words) => must(['docker', 'exec', service.container, '/usr/bin/valkey-cli', ...words]),
  };
}

function pong(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => socket.write('PING\r\n'));
    socket.setTimeout(2_000, () => socket.destroy());
    socket.on('data', (data) => {
      resolve(data.toString().startsWith('+PONG'));
      socket.destroy();
    });
    socket.on('error', () => resolve(false));
    socket.on('close', () => resolve(false));
  });
}
