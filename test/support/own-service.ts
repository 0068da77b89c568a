import { randomBytes } from 'node:crypto';
import { must } from '@hotcell/setup/command.ts';
import { lockedImages } from '@hotcell/setup/images/images-lock-file.ts';
import type { Bed } from './bed.ts';
import { openTcpProxy, type TcpProxy } from './tcp-proxy.ts';
import { until } from './until.ts';

export interface OwnService extends AsyncDisposable {
  /** The proxy keeps its address when the service restarts elsewhere. */
  readonly proxy: TcpProxy;
  readonly container: string;
  kill(): Promise<void>;
  start(): Promise<void>;
  pause(): Promise<void>;
  unpause(): Promise<void>;
}

interface Asked {
  image: 'valkey' | 'store';
  port: number;
  /** More arguments of `docker run`, and the program. */
  options: readonly string[];
  words: readonly string[];
  answers: (port: number) => Promise<boolean>;
}

/** A service of a test's own, which can be killed, paused and restarted. */
export async function startService(bed: Bed, { image, port, options, words, answers }: Asked): Promise<OwnService> {
  const locked = (await lockedImages(bed.installation.home))[image];
  if (!locked) throw new Error(`the image ${image} is not in the lock`);
  const container = `hotcell-${bed.installation.id}-faults-${randomBytes(4).toString('hex')}`;
  const labels = ['hotcell.managed=1', `hotcell.installation=${bed.installation.id}`, 'hotcell.role=test'].flatMap(
    (label) => ['--label', label],
  );
  const network = `hotcell-${bed.installation.id}_inside`;
  const place = ['--name', container, '--network', network, '--publish', `127.0.0.1::${port}`];
  const remove = () => must(['docker', 'rm', '--force', '--volumes', container]);
  await must(['docker', 'run', '--detach', ...place, ...labels, ...options, locked.digest, ...words]).catch(
    async (error: unknown) => {
      // A container that was created but not started also has to go.
      await remove();
      throw error;
    },
  );
  const proxy = await openTcpProxy({ host: '127.0.0.1', port: 0 });
  const find = async () => {
    // After a restart it may be published on another port.
    const shown = await must(['docker', 'port', container, `${port}/tcp`]);
    const published = Number(shown.trim().split(':').at(-1));
    proxy.target = { host: '127.0.0.1', port: published };
    await until(`${image} answers`, () => answers(published));
  };
  await find();
  return {
    proxy,
    container,
    kill: async () => void (await must(['docker', 'kill', container])),
    start: async () => {
      await must(['docker', 'start', container]);
      await find();
    },
    pause: async () => void (await must(['docker', 'pause', container])),
    unpause: async () => void (await must(['docker', 'unpause', container])),
    async [Symbol.asyncDispose]() {
      await proxy[Symbol.asyncDispose]();
      await remove();
    },
  };
}
