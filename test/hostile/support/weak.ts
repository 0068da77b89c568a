import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Attached, Engine } from '@hotcell/outside/engine/engine.ts';
import { type Bed, engineSocket } from '../../support/bed.ts';
import type { Runtime } from './attack.ts';
import { helpers, type NamedAttack } from './load.ts';

/** Folders and services of the host for the weak container to find, which no cell may reach. */
export interface HostThings {
  port: number;
  abstract: string;
  /** A folder that stands for the platform's state. */
  state: string;
  /** Contains a socket, and has a name that shows in mountinfo. */
  secretPlace: string;
  secret: string;
}

/** The time limit for one attack in the weak container. */
const attackSeconds = 120;

/** Runs the same attacks in an unhardened container on the same runtime, beside an equally weak neighbour. */
export async function runWeak(
  bed: Bed,
  runtime: Runtime,
  attacks: readonly NamedAttack[],
  things: HostThings,
): Promise<ReadonlyMap<string, string>> {
  const engine = new Engine(engineSocket);
  const folder = await bed.folder(`weak-${runtime}`);
  await prepare(folder, runtime, attacks, things);
  // On this runtime two containers cannot meet in the host's network, so the neighbour is in the same container.
  await using neighbour = ownNetwork(runtime)
    ? undefined
    : await start(engine, bed, runtime, 'neighbour', folder, things);
  if (neighbour) {
    const ready = neighbour.lines.next();
    await neighbour.started();
    if (!String((await ready).value).startsWith('READY')) throw new Error('the weak neighbour did not start');
  }
  await using main = await start(engine, bed, runtime, 'weak', folder, things);
  await main.started();
  const said = new Map<string, string>();
  for await (const line of main.lines) {
    if (!line.startsWith('{')) continue;
    const one = JSON.parse(line) as { name: string; said: string };
    said.set(one.name, one.said);
  }
  return said;
}

/** gVisor is registered with --network=none: no container gets the host's network. */
const ownNetwork = (runtime: Runtime) => runtime === 'gvisor';

async function prepare(
  folder: string,
  runtime: Runtime,
  attacks: readonly NamedAttack[],
  things: HostThings,
): Promise<void> {
  const programs = await helpers();
  for (const name of ['attack', 'inputs/data', 'tmp']) await mkdir(join(folder, name), { recursive: true });
  await chmod(join(folder, 'tmp'), 0o1777);
  for (const [name, bytes] of Object.entries(programs)) await writeFile(join(folder, 'attack', name), bytes);
  await writeFile(join(folder, 'inputs/data/hello.txt'), 'hello\n');
  await writeFile(join(folder, 'tmp/canary'), 'left');
  await writeFile(join(folder, 'attack/where.json'), JSON.stringify(things));
  const plan = {
    seconds: attackSeconds,
    ownNetwork: ownNetwork(runtime),
    attacks: attacks.map(({ name, blocks }) => ({ name, blocks })),
  };
  await writeFile(join(folder, 'attack/plan.json'), JSON.stringify(plan));
}

async function start(
  engine: Engine,
  bed: Bed,
  runtime: Runtime,
  program: 'weak' | 'neighbour',
  folder: string,
  things: HostThings,
) {
  const bind = (source: string, target: string) => `${source}:${target}`;
  const id = await engine.create(`hotcell-test-${program}-${runtime}-${bed.installation.id}`, {
    Image: bed.images.python.digest,
    Entrypoint: ['python3', `/attack/${program}.py`],
    Cmd: [],
    Env: [`HOTCELL_SECRET=${things.secret}`],
    AttachStdin: true,
    OpenStdin: true,
    StdinOnce: true,
    Volumes: { '/data': {} },
    Labels: {
      'hotcell.managed': '1',
      'hotcell.installation': bed.installation.id,
      'hotcell.role': 'test',
    },
    HostConfig: {
      Runtime: runtime === 'gvisor' ? 'runsc' : 'runc',
      Privileged: true,
      GroupAdd: ['4242'],
      Tmpfs: { '/scratch': 'rw,dev,suid,exec' },
      NetworkMode: 'host',
      IpcMode: 'host',
      UTSMode: 'host',
      CgroupnsMode: 'host',
      Binds: [
        bind(join(folder, 'attack'), '/attack'),
        bind(join(folder, 'inputs'), '/inputs'),
        bind(join(folder, 'tmp'), '/tmp'),
        bind(things.secretPlace, '/mnt/hotcell-secret-place'),
        bind(things.state, things.state),
        // As a monitoring container would have it.
        '/proc:/host/proc:ro',
        '/sys:/host/sys:ro',
        // Stand-ins, so that the attack finds something without endangering the host.
        bind(things.state, '/var/lib/docker'),
        bind(join(things.secretPlace, 'socket'), '/run/docker.sock'),
      ],
    },
  });
  if (id === undefined) throw new Error(`a container of an earlier test is there: hotcell-test-${program}-…`);
  const attached: Attached = await engine.attach(id);
  return {
    lines: linesOf(attached),
    started: () => engine.start(id),
    async [Symbol.asyncDispose]() {
      attached.close();
      await engine.remove(id);
    },
  };
}

async function* linesOf(attached: Attached): AsyncGenerator<string> {
  let rest = '';
  for await (const { stream, bytes } of attached.output) {
    if (stream === 'stderr') {
      process.stderr.write(bytes);
      continue;
    }
    const lines = (rest + bytes.toString()).split('\n');
    rest = lines.pop() ?? '';
    yield* lines;
  }
}
