import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import Docker from 'dockerode';
import { engineSocket } from '../../test/support/bed.ts';

export interface Bare {
  image: string;
  command: string[];
  labels: Record<string, string>;
}

/** The same cell by the engine's calls alone: what anybody would write first, and the least that is needed. */
export function bareCells(): { run: (cell: Bare) => Promise<string> } {
  const docker = new Docker({ socketPath: engineSocket });
  return {
    async run({ image, command, labels }) {
      const container = await docker.createContainer({
        Image: image,
        Entrypoint: [''],
        Cmd: command,
        User: '65000:65000',
        WorkingDir: '/work',
        Labels: labels,
        NetworkDisabled: true,
        HostConfig: {
          NetworkMode: 'none',
          ReadonlyRootfs: true,
          CapDrop: ['ALL'],
          SecurityOpt: ['no-new-privileges'],
          Memory: 512 * 1024 * 1024,
          MemorySwap: 512 * 1024 * 1024,
          NanoCpus: 1e9,
          PidsLimit: 256,
          LogConfig: { Type: 'none', Config: {} },
          Tmpfs: { '/work': 'size=64m', '/outputs': 'size=64m', '/tmp': 'size=64m' },
        },
      });
      const stream = await container.attach({ stream: true, stdout: true, stderr: true });
      const out = new PassThrough();
      const chunks: Buffer[] = [];
      out.on('data', (chunk: Buffer) => chunks.push(chunk));
      docker.modem.demuxStream(stream, out, out);
      const ended = once(stream, 'end');
      await container.start();
      await Promise.all([container.wait(), ended]);
      await container.remove();
      return Buffer.concat(chunks).toString();
    },
  };
}
