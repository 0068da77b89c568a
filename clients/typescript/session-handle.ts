import { randomUUID } from 'node:crypto';
import type { ShownRow } from '@hotcell/contract/api/events.ts';
import { isFinished, type ShownResult } from '@hotcell/contract/api/runs.ts';
import { routes } from '@hotcell/contract/api/routes.ts';
import type { StepView } from '@hotcell/contract/api/sessions.ts';
import type { StepRequest } from '@hotcell/contract/session/step.ts';
import type { SessionRequest } from '@hotcell/contract/spec.ts';
import { Backoff } from './backoff.ts';
import { Run } from './run-handle.ts';

/** What came of a step. */
export type Step = StepView;

export interface SessionOptions extends SessionRequest {
  /** The same key and the same request again give the same session. */
  idempotencyKey?: string | undefined;
  signal?: AbortSignal | undefined;
}

export interface StepOptions extends Pick<StepRequest, 'files' | 'timeoutSeconds'> {
  /** Default: python. */
  language?: string | undefined;
  signal?: AbortSignal | undefined;
}

/** The longest that one request waits for a step. */
const waitSeconds = 60;
const headers = { prefer: `wait=${waitSeconds}` };

/** A session that was started. Its cell holds memory until it is finished; it ends by itself when it idles. */
export class Session extends Run implements AsyncDisposable {
  /** Runs code as the next step, and waits until it is over. A step that failed is a result, not an error. */
  async run(code: string, { language = 'python', ...options }: StepOptions = {}): Promise<Step> {
    return await this.step({ language, code }, options);
  }

  /** Runs a program as the next step. */
  async exec(argv: string[], options: Omit<StepOptions, 'language'> = {}): Promise<Step> {
    return await this.step({ argv }, options);
  }

  async step(block: StepRequest, options: Omit<StepOptions, 'language'> = {}): Promise<Step> {
    return await this.stepEnd((await this.begin(block, options)).index, options.signal);
  }

  /** Records the step, and answers as soon as that is done: what follows may take long. */
  async begin(block: StepRequest, { signal, ...more }: Omit<StepOptions, 'language'> = {}): Promise<Step> {
    // Asked again after an answer that was lost, it is the same step.
    const key = { 'idempotency-key': randomUUID() };
    const json: StepRequest = { ...block, ...more };
    const backoff = new Backoff();
    for (;;) {
      try {
        return await this.http.call(routes.addStep, { params: { run: this.id }, json, headers: key, signal });
      } catch (error) {
        await backoff.failed(error, signal);
      }
    }
  }

  /** Waits until the step is over. Aborting stops the waiting; the step goes on. */
  async stepEnd(step: number, signal?: AbortSignal): Promise<Step> {
    const backoff = new Backoff();
    for (;;) {
      try {
        const view = await this.http.call(routes.getStep, { params: { run: this.id, step }, headers, signal });
        if (view.status === 'finished') return view;
        backoff.succeeded();
      } catch (error) {
        await backoff.failed(error, signal);
      }
    }
  }

  /** What a step that is over wrote, byte for byte. */
  async *stepLog(step: number): AsyncGenerator<ShownRow> {
    yield* this.http.rows(routes.readStepLog, { params: { run: this.id, step } });
  }

  /** The bytes of something that a step showed. */
  async shown(step: number, output: number): Promise<Buffer> {
    const answer = await this.http.open(routes.getStepOutput, { params: { run: this.id, step, output } });
    return Buffer.from(await answer.arrayBuffer());
  }

  /** SIGINT to the step that runs: a KeyboardInterrupt in Python. The session goes on. */
  async interrupt(step: number): Promise<void> {
    await this.http.call(routes.interruptStep, { params: { run: this.id, step } });
  }

  /** Ends the session behind the steps that were sent, and waits for its result. */
  async finish({ signal }: { signal?: AbortSignal | undefined } = {}): Promise<ShownResult> {
    const view = await this.http.call(routes.finishSession, { params: { run: this.id }, headers, signal });
    return isFinished(view) ? view : await this.result({ signal });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.finish();
  }
}
