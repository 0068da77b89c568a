import { demux } from '@hotcell/outside/engine/demux.ts';
import Docker from 'dockerode';
import { engineSocket } from '../../test/support/bed.ts';

export interface Bare {
  image: string;
  command: string[];
  labels: Record<string, string>;
}

/** A container made by engine calls alone, with the fewest options that still limit it. */
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
      // Attached and hijacked before the start: a container this short would end before a later attach.
      const stream = await container.attach({ stream: true, stdout: true, stderr: true, hijack: true });
      await container.start();
      const chunks: Buffer[] = [];
      for await (const { bytes } of demux(stream as AsyncIterable<Buffer>)) chunks.push(bytes);
      const { StatusCode: code } = (await container.wait()) as { StatusCode: number };
      await container.remove();
      if (code !== 0) throw new Error(`the bare container ended with exit code ${code}`);
      return Buffer.concat(chunks).toString();
    },
  };
}
