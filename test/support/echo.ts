import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import type { Effective } from '@hotcell/contract/admission.ts';
import { formPosture } from '@hotcell/contract/posture-form.ts';
import { languages } from '@hotcell/contract/languages.ts';
import type { Steps } from '@hotcell/executor-worker/worker.ts';
import type { CellEvent, SealedCell } from '@hotcell/executor-worker/cell/sealed-cell.ts';
import type { CellPlan } from '@hotcell/executor-worker/cell/cell-plan.ts';
import type { Job } from '@hotcell/executor-worker/execute/job.ts';
import type { KillReason } from '@hotcell/contract/frames.ts';
import type { Limits } from '@hotcell/contract/limits.ts';
import { testLimits } from './limits.ts';

export const echoQueue = 'echo';
const mib = 1024 * 1024;

const echoLimits: Limits = {
  ...testLimits,
  timeoutSeconds: 60,
  blockTimeoutSeconds: 60,
  graceSeconds: 1,
  memoryBytes: 64 * mib,
  cpus: 0.1,
  logBytes: mib,
  outputFiles: 10,
};

/** What is staged for a run without inputs. */
export const noInputs = { mounts: [], inputs: [], parts: { params: '{}', trees: [] } };

/**
 * Takes the place of a cell, so that everything around it can be tested hundreds of times. The code is a script of lines:
 * `print TEXT`, `output TEXT`, `big BYTES` (an output of that size), `last MS`, `exit CODE`, `hold` (until it is killed)
 * and `break` (the platform fails).
 */
export const echoSteps: Steps = {
  judge: async (spec): Promise<Effective> => ({
    limits: { ...echoLimits, ...(spec.limits as Partial<typeof echoLimits>) },
    image: spec.image,
    runtime: 'runc',
    env: {},
    imageEnv: [],
    languages,
    inputs: { verifyEachUse: false },
    seccomp: {},
    logs: { pastLimit: 'truncate' },
    queue: echoQueue,
    priority: spec.priority,
  }),
  ready: async () => {},
  stage: async () => ({ ...noInputs, [Symbol.asyncDispose]: async () => {} }),
  seal: async (plan) => new EchoCell(plan),
};

class EchoCell implements SealedCell {
  readonly id: string;
  readonly container: string;
  readonly warm = false;
  readonly posture = { inside: {}, outside: {}, worth: 'none: it only echoes' };
  readonly formed = formPosture(this.posture, {});
  readonly #killed = new AbortController();

  constructor({ run, attempt }: CellPlan) {
    this.id = `echo-${run}-${attempt}`;
    this.container = this.id;
  }

  async tell(): Promise<void> {}

  async *run(job: Job): AsyncGenerator<CellEvent> {
    for (const { index, code } of job.blocks) {
      yield { type: 'block_started', index, at: new Date(), livesOn: false };
      let exitCode = 0;
      for (const line of (code ?? Buffer.alloc(0)).toString().split('\n')) {
        const [word, ...rest] = line.split(' ');
        const text = rest.join(' ');
        const at = new Date();
        if (word === 'print')
          yield { type: 'log', block: index, stream: 'stdout', at, bytes: Buffer.from(`${text}\n`) };
        else if (word === 'output') yield outputOf(text);
        else if (word === 'big') yield bigOutputOf(Number(text));
        else if (word === 'last')
          await pause(Number(text), undefined, { signal: this.#killed.signal }).catch(() => {
            // Killed meanwhile.
          });
        else if (word === 'exit') exitCode = Number(text);
        else if (word === 'hold' && !this.#killed.signal.aborted) await once(this.#killed.signal, 'abort');
        else if (word === 'break') {
          yield { type: 'died', exitCode: 1, engineSaysOom: false, oomKills: 0 };
          return;
        }
      }
      const killed = this.#killed.signal.aborted;
      const usage = { wallMs: 1, cpuMs: 1, peakMemoryBytes: 1, logBytes: 0 };
      yield {
        type: 'block_ended',
        at: new Date(),
        end: {
          index,
          exitCode: killed ? null : exitCode,
          signal: killed ? 9 : null,
          timedOut: false,
          oomKills: 0,
          killedByHost: false,
          networkTries: 0,
          startError: null,
          ...usage,
        },
      };
      if (exitCode !== 0 || killed) break;
    }
    yield { type: 'end', usage: { wallMs: 1, cpuMs: 1, peakMemoryBytes: 1 }, timedOut: false };
  }

  kill(reason: KillReason): void {
    this.#killed.abort(reason);
  }

  async destroy(): Promise<void> {
    this.#killed.abort('destroyed');
  }
}

function outputOf(text: string): CellEvent {
  const bytes = Buffer.from(text);
  const data = (async function* () {
    yield bytes;
  })();
  return { type: 'output', path: Buffer.from('out.txt'), size: bytes.length, data };
}

/** Incompressible bytes that differ for every size. */
function bigOutputOf(size: number): CellEvent {
  const data = (async function* () {
    let piece = Buffer.alloc(0);
    for (let left = size; left > 0; left -= piece.length) {
      const seed = createHash('sha512').update(`${size} ${left}`).digest();
      piece = Buffer.alloc(Math.min(mib, left), seed);
      yield piece;
    }
  })();
  return { type: 'output', path: Buffer.from('big.bin'), size, data };
}
