import type { Readable } from 'node:stream';
import Docker from 'dockerode';
import { engineSocket, openBed } from '../test/support/bed.ts';
import { openTestCells } from '../test/support/cells.ts';
import { jobOf, plainContainer, runtimes } from './support/cells.ts';
import { type Bench, median } from './support/row.ts';

const programs = {
  bash: { language: 'bash', code: 'echo hello', command: ['bash', '-c', 'echo hello'] },
  python: { language: 'python', code: "print('hello')", command: ['python3', '-c', "print('hello')"] },
} as const;

interface Times {
  first: number;
  end: number;
}

/** From sending code to its first output and to its end, in a waiting cell. Baseline: `docker exec` in a running container. */
export async function bench({ target, quick }: Bench): Promise<void> {
  await using bed = await openBed();
  await using made = await openTestCells(bed, 'hand-over');
  const docker = new Docker({ socketPath: engineSocket });
  for (const runtime of runtimes) {
    await using running = await plainContainer(bed, runtime, ['sleep', '100000']);
    await running.start();
    for (const [name, { language, code, command }] of Object.entries(programs)) {
      const handOver = async (): Promise<Times> => {
        const cell = await made.cells.open(made.plan(runtime));
        try {
          const since = performance.now();
          let first: number | undefined;
          for await (const event of cell.run(jobOf({ language, code })))
            if (event.type === 'log') first ??= performance.now() - since;
          if (first === undefined) throw new Error('the cell printed nothing');
          return { first, end: performance.now() - since };
        } finally {
          await cell.destroy();
        }
      };
      const exec = async (): Promise<Times> => {
        const since = performance.now();
        const made = await docker
          .getContainer(running.id)
          .exec({ Cmd: [...command], AttachStdout: true, AttachStderr: true });
        const stream: Readable = await made.start({});
        let first: number | undefined;
        for await (const _ of stream) first ??= performance.now() - since;
        if (first === undefined) throw new Error('exec printed nothing');
        return { first, end: performance.now() - since };
      };
      await handOver();
      await exec();
      const ours: Times[] = [];
      const theirs: Times[] = [];
      for (let i = 0; i < (quick ? 3 : 20); i++) {
        ours.push(await handOver());
        theirs.push(await exec());
      }
      for (const what of ['first', 'end'] as const)
        target({
          name: `hand-over/${runtime}-${name}-${what}`,
          value: median(ours.map((one) => one[what])),
          unit: 'ms',
          baseline: median(theirs.map((one) => one[what])),
          target: runtime === 'runc' ? 0.5 : 1,
        });
    }
  }
}
