import { createHash, randomBytes, randomInt } from 'node:crypto';
import type { CellFrame, RunEnd } from '@hotcell/executor-worker/cell/frames/decode.ts';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { HostFrame, JobLimits } from '@hotcell/contract/frames.ts';
import { sha256 } from '@hotcell/contract/digest.ts';
import type { Limits } from '@hotcell/contract/limits.ts';
import { makeFolder, removeFolder } from '@hotcell/executor-worker/cell/host-files.ts';
import { containerName, containerOptions } from '@hotcell/executor-worker/cell/options.ts';
import { settableRlimits } from '@hotcell/contract/cell-bounds.ts';
import { Talk } from '@hotcell/executor-worker/cell/talk.ts';
import type { CellPlan } from '@hotcell/executor-worker/cell/cell-plan.ts';
import { type Attached, Engine } from '@hotcell/outside/engine/engine.ts';
import { type Bed, engineSocket } from '../../support/bed.ts';
import { testLimits } from '../../support/limits.ts';

const profiles = join(import.meta.dirname, '../../../images/seccomp');
const mib = 1024 * 1024;

export const runtimes = ['runc', 'gvisor'] as const;
type Runtime = (typeof runtimes)[number];

const limits: Limits = {
  ...testLimits,
  graceSeconds: 1,
  memoryBytes: 256 * mib,
  pids: 64,
  openFiles: 256,
  // Less than the memory, so that a full /work is refused to the block and not paid for with its life.
  scratchBytes: 64 * mib,
};

/** Generous: a test sets the limits that it wants to reach. */
const jobLimits: JobLimits = {
  runMs: 120_000,
  lifetimeMs: 300_000,
  graceMs: 20_000,
  logHeadBytes: 8 * mib,
  logTailBytes: 65_536,
  logLimitEnds: false,
  outputBytes: 64 * mib,
  outputFiles: 1000,
  outputDepth: 16,
  outputPathBytes: 1024,
};

interface TestBlock {
  programs?: string[];
  args?: string[];
  code?: string;
  path?: string;
  timeMs?: number;
}

export interface TestJob {
  blocks: readonly (TestBlock | string)[];
  files?: readonly { path: string; bytes: Buffer | string }[];
  limits?: Partial<JobLimits>;
  env?: Readonly<Record<string, string>>;
}

/** What init reported of a job, sorted by type. */
export class Report {
  readonly frames: CellFrame[] = [];

  of<T extends CellFrame['type']>(type: T): Extract<CellFrame, { type: T }>[] {
    return this.frames.filter((frame): frame is Extract<CellFrame, { type: T }> => frame.type === type);
  }

  log(stream: 'stdout' | 'stderr', tail?: boolean): Buffer {
    const found = this.of('log').filter((f) => f.stream === stream && (tail === undefined || f.tail === tail));
    return Buffer.concat(found.map(({ bytes }) => bytes));
  }

  get stdout(): string {
    return this.log('stdout').toString();
  }

  get ends(): unknown[] {
    return this.of('blockEnded').map(({ end }) => (end.how === 'exited' ? end.exitCode : end));
  }

  get causes(): string[] {
    return this.of('blockEnded').map(({ cause }) => cause);
  }

  /** Its last frame; throws with what init said instead. */
  get end(): RunEnd {
    const last = this.frames.at(-1);
    if (last?.type !== 'end') throw new Error(`init's last word was ${JSON.stringify(last)}, stdout: ${this.stdout}`);
    return last.end;
  }

  get refused(): Record<string, string> {
    return Object.fromEntries(this.of('outputRefused').map((f) => [Buffer.from(f.path).toString('latin1'), f.reason]));
  }

  get outputs(): Record<string, Buffer> {
    const found: [path: string, chunks: Uint8Array[]][] = [];
    for (const frame of this.frames) {
      if (frame.type === 'outputEntry') found.push([Buffer.from(frame.path).toString('latin1'), []]);
      if (frame.type === 'outputData') found.at(-1)?.[1].push(frame.bytes);
    }
    return Object.fromEntries(found.map(([path, chunks]) => [path, Buffer.concat(chunks)]));
  }
}

const sha = (bytes: Buffer) => createHash('sha256').update(bytes).digest();

export function* jobFrames(job: TestJob): Generator<HostFrame> {
  yield { type: 'job', limits: { ...jobLimits, ...job.limits } };
  for (const [name, value] of Object.entries(job.env ?? {})) yield { type: 'env', name, value };
  for (const file of job.files ?? []) {
    const bytes = Buffer.from(file.bytes);
    yield { type: 'file', path: file.path, size: bytes.length, sha256: sha(bytes) };
    if (bytes.length > 0) yield { type: 'fileData', bytes };
  }
  for (const [index, given] of job.blocks.entries()) {
    const block = typeof given === 'string' ? { code: given } : given;
    const path = block.path ?? (block.code === undefined ? '' : `block${index}.py`);
    const bytes = Buffer.from(block.code ?? '');
    const { programs = ['python3'], args = [`/work/${path}`], timeMs = 0 } = block;
    yield { type: 'block', index, timeMs, programs, args, path, size: bytes.length, sha256: sha(bytes) };
    if (bytes.length > 0) yield { type: 'blockData', bytes };
  }
  yield { type: 'start' };
}

/** Init in a container that is made exactly like a cell, driven only by frames. */
export class Init implements AsyncDisposable {
  readonly uid: number;
  readonly container: string;
  readonly engine: Engine;
  readonly talk: Talk;
  readonly #input: Attached['input'];
  readonly #plan: CellPlan;
  readonly #clean: () => Promise<void>;

  private constructor(made: {
    uid: number;
    container: string;
    engine: Engine;
    attached: Attached;
    plan: CellPlan;
    clean(): Promise<void>;
  }) {
    ({ uid: this.uid, container: this.container, engine: this.engine } = made);
    this.talk = new Talk(made.attached);
    this.#input = made.attached.input;
    this.#plan = made.plan;
    this.#clean = () => made.clean();
  }

  static async start(
    bed: Bed,
    runtime: Runtime,
    changed: Partial<Limits> = {},
    elsewhere: { engine?: Engine; image?: string } = {},
  ): Promise<Init> {
    const { engine = new Engine(engineSocket), image: ref = bed.images.python.ref } = elsewhere;
    const plan: CellPlan = {
      run: 'init-test',
      attempt: 1,
      runtime,
      image: bed.images.python,
      limits: { ...limits, ...changed },
      log: { headBytes: mib, tailBytes: 65_536, pastLimit: 'truncate' },
      seccomp: {},
      mounts: [],
      env: {},
      imageEnv: [],
    };
    const id = randomBytes(8).toString('hex');
    const stateDir = await bed.folder('init');
    const machine = process.arch === 'x64' ? 'x86_64' : 'aarch64';
    const seccomp = JSON.stringify(JSON.parse(await readFile(join(profiles, `${runtime}-${machine}.json`), 'utf8')));
    const image = await engine.image(ref);
    const bytes = await readFile(join(bed.initFolder, 'cell-init'));
    const init = { bytes, digest: sha256(bytes) };
    for (;;) {
      const uid = randomInt(10_000, 50_000);
      const files = makeFolder(stateDir, { id, uid, cpus: 2, init });
      const site = { id, uid, installation: bed.installation.id, worker: 'init-test', createdAt: new Date() };
      const options = containerOptions(plan, {
        ...site,
        imageId: image.Id,
        imageVariables: [],
        files,
        disks: { disks: [], bytesPerSecond: 0 },
        seccomp,
      });
      const container = await engine.create(containerName(uid), options);
      if (container === undefined) continue;
      const clean = async () => {
        await engine.remove(container);
        removeFolder(stateDir, id);
      };
      try {
        const attached = await engine.attach(container);
        await engine.start(container);
        return new Init({ uid, container, engine, attached, plan, clean });
      } catch (error) {
        await clean();
        throw error;
      }
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.talk.close();
    await this.#clean();
  }

  hello(): HostFrame[] {
    const env = { PATH: '/usr/local/bin:/usr/bin:/bin', HOME: '/work', LANG: 'C.UTF-8', PYTHONUNBUFFERED: '1' };
    return [
      {
        type: 'hello',
        uid: this.uid,
        gid: this.uid,
        lifetimeMs: 120_000,
        rlimits: settableRlimits(this.#plan),
        cpus: 0,
        firstCpu: 0,
      },
      ...Object.entries(env).map(([name, value]): HostFrame => ({ type: 'env', name, value })),
    ];
  }

  /** Sends bytes as they are, frames or not. */
  async sendRaw(bytes: Buffer): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      this.#input.write(bytes, (error) => (error ? reject(error) : resolve()));
    });
  }

  /** Speaks to init up to its posture. */
  async seal(): Promise<Report> {
    await this.talk.send([...this.hello(), { type: 'seal', nonce: Buffer.alloc(32, 7) }]);
    return await this.until((frame) => frame.type === 'postureEnd');
  }

  async until(stop: (frame: CellFrame, report: Report) => boolean | Promise<boolean>): Promise<Report> {
    const report = new Report();
    for (let frame = await this.talk.next(); frame; frame = await this.talk.next()) {
      report.frames.push(frame);
      if (await stop(frame, report)) break;
    }
    return report;
  }

  /** Runs a job to the end of the stream. `watch` sees every frame and may answer. */
  async run(
    job: TestJob,
    watch: (frame: CellFrame, report: Report) => void | Promise<void> = () => undefined,
  ): Promise<Report> {
    await this.seal();
    await this.talk.send(jobFrames(job));
    return await this.until(async (frame, report) => {
      await watch(frame, report);
      return false;
    });
  }
}
