import { randomBytes } from 'node:crypto';
import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Engine } from '@hotcell/outside/engine/engine.ts';
import { helpers } from '../../hostile/support/load.ts';
import { type Bed, engineSocket } from '../../support/bed.ts';
import type { Runtime } from './runs.ts';

const attackSeconds = 120;

/** A container the naive way: without limits, and with a folder of the host as /outputs. */
export interface Weak extends AsyncDisposable {
  container: string;
  /** The host's folder that is its /outputs. */
  outputs: string;
  /** What each program said, by its name, once all have ended. */
  said(): Promise<ReadonlyMap<string, string>>;
}

export async function startWeak(
  bed: Bed,
  runtime: Runtime,
  programs: Readonly<Record<string, string>>,
  where: Readonly<Record<string, string>> = {},
): Promise<Weak> {
  const engine = new Engine(engineSocket);
  const folder = await bed.folder(`weak-${runtime}`);
  const outputs = join(folder, 'outputs');
  for (const path of [join(folder, 'attack'), outputs]) await mkdir(path, { recursive: true });
  await chmod(outputs, 0o777);
  const shared = await helpers();
  for (const name of ['attack.py', 'weak.py'] as const) await writeFile(join(folder, 'attack', name), shared[name]);
  const attacks = Object.entries(programs).map(([name, code]) => ({ name, blocks: [code] }));
  await writeFile(
    join(folder, 'attack/plan.json'),
    JSON.stringify({ seconds: attackSeconds, ownNetwork: false, attacks }),
  );
  await writeFile(join(folder, 'attack/where.json'), JSON.stringify(where));
  const container = await engine.create(`hotcell-test-limits-${randomBytes(6).toString('hex')}`, {
    Image: bed.images.python.digest,
    Entrypoint: ['python3', '/attack/weak.py'],
    Cmd: [],
    // The tests' own user must be able to remove what it leaves on the host.
    User: `${process.getuid?.() ?? 0}:${process.getgid?.() ?? 0}`,
    AttachStdout: true,
    AttachStderr: true,
    Labels: { 'hotcell.managed': '1', 'hotcell.installation': bed.installation.id, 'hotcell.role': 'test' },
    HostConfig: {
      Runtime: runtime === 'gvisor' ? 'runsc' : 'runc',
      NetworkMode: 'none',
      ShmSize: 256 * 1024 * 1024,
      Tmpfs: { '/work': 'rw,exec', '/tmp': 'rw,exec' },
      SecurityOpt: ['seccomp=unconfined'],
      Ulimits: [
        { Name: 'core', Soft: -1, Hard: -1 },
        { Name: 'nofile', Soft: 4096, Hard: 4096 },
      ],
      Binds: [`${join(folder, 'attack')}:/attack`, `${outputs}:/outputs`],
    },
  });
  if (container === undefined) throw new Error('the name of a weak container was taken');
  const attached = await engine.attach(container);
  const text = (async () => {
    let all = '';
    for await (const { stream, bytes } of attached.output) if (stream === 'stdout') all += bytes.toString();
    return all;
  })();
  await engine.start(container);
  return {
    container,
    outputs,
    async said() {
      const lines = (await text).split('\n').filter((line) => line.startsWith('{'));
      return new Map(
        lines.map((line) => {
          const one = JSON.parse(line) as { name: string; said: string };
          return [one.name, one.said];
        }),
      );
    },
    async [Symbol.asyncDispose]() {
      attached.close();
      await text;
      await engine.remove(container);
    },
  };
}
