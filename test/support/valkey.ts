import { randomBytes } from 'node:crypto';
import { connect } from 'node:net';
import { must } from '@hotcell/setup/command.ts';
import { readImagesLock } from '@hotcell/setup/images/lock.ts';
import type { Bed } from './bed.ts';
import { openTcpProxy, type TcpProxy } from './tcp-proxy.ts';
import { until } from './until.ts';

export interface OwnValkey extends AsyncDisposable {
  /** Through the proxy: the same address, whatever becomes of the server behind it. */
  readonly url: string;
  readonly proxy: TcpProxy;
  kill(): Promise<void>;
  start(): Promise<void>;
  pause(): Promise<void>;
  unpause(): Promise<void>;
  /** One command, by the server's own client. */
  cli(...words: string[]): Promise<string>;
}

/** A Valkey of a test's own, to be killed, paused, emptied and started again without anybody else noticing. */
export async function startValkey(bed: Bed): Promise<OwnValkey> {
  const image = (await readImagesLock(bed.installation.home))['valkey'];
  if (!image) throw new Error('the image valkey is not in the lock');
  const name = `hotcell-${bed.installation.id}-faults-${randomBytes(4).toString('hex')}`;
  const labels = ['hotcell.managed=1', `hotcell.installation=${bed.installation.id}`, 'hotcell.role=test'];
  const place = ['--publish', '127.0.0.1::6379', '--volume', '/data', '--workdir', '/data'];
  const server = [
    '--appendonly',
    'yes',
    '--appendfsync',
    'everysec',
    '--save',
    '',
    '--protected-mode',
    'no',
    '--dir',
    '/data',
  ];
  const memory = ['--maxmemory-policy', 'noeviction', '--hash-max-listpack-value', '1024'];
  await must([
    'docker',
    'run',
    '--detach',
    '--name',
    name,
    ...labels.flatMap((label) => ['--label', label]),
    ...place,
    image.digest,
    ...server,
    ...memory,
  ]);
  const proxy = await openTcpProxy({ host: '127.0.0.1', port: 0 });
  const find = async () => {
    const shown = await must(['docker', 'port', name, '6379/tcp']);
    const port = Number(shown.trim().split(':').at(-1));
    proxy.target = { host: '127.0.0.1', port };
    await until('Valkey answers', () => pong(port));
  };
  await find();
  return {
    url: `redis://127.0.0.1:${proxy.port}`,
    proxy,
    kill: async () => void (await must(['docker', 'kill', name])),
    start: async () => {
      await must(['docker', 'start', name]);
      await find();
    },
    pause: async () => void (await must(['docker', 'pause', name])),
    unpause: async () => void (await must(['docker', 'unpause', name])),
    cli: (...words) => must(['docker', 'exec', name, '/usr/bin/valkey-cli', ...words]),
    async [Symbol.asyncDispose]() {
      await proxy[Symbol.asyncDispose]();
      await must(['docker', 'rm', '--force', '--volumes', name]);
    },
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
