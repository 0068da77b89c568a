import { Batches } from './batches-client.ts';
import type { PolicyView } from '@hotcell/contract/api/policies.ts';
import type { JsonAnswer } from '@hotcell/contract/api/route.ts';
import { routes } from '@hotcell/contract/api/routes.ts';
import type { RunView, ShownResult } from '@hotcell/contract/api/runs.ts';
import type { CreatedSnapshot } from '@hotcell/contract/api/snapshots.ts';
import { HotcellError } from '@hotcell/contract/errors.ts';
import type { RunRequest } from '@hotcell/contract/spec.ts';
import type { Call } from '@hotcell/contract/api/call.ts';
import { type ClientSettings, Http } from './http.ts';
import { type OnceOptions, sendOnce } from './send-once.ts';
import { Run } from './run-handle.ts';
import { check, RunFailed } from './run-failed.ts';
import { Session, type SessionOptions, type Step } from './session-handle.ts';
import { Schedules } from './schedules-client.ts';
import { Workflows } from './workflows-client.ts';
import { type Input, type JobRequest, submitJob } from './submission.ts';
import { Webhooks } from './webhooks-client.ts';
import type { UploadOptions } from './upload.ts';

export interface CodeOptions extends Omit<JobRequest, 'blocks'>, OnceOptions {
  /** Default: python. */
  language?: string | undefined;
}

/**
 * const hotcell = new Hotcell();
 * const result = await hotcell.run('print(1)');
 * console.log(result.outcome, result.stdout);
 */
export class Hotcell extends Http {
  /** Runs that repeat. */
  readonly schedules: Schedules = new Schedules(this);
  /** One request over many items. */
  readonly batches: Batches = new Batches(this);
  /** Runs that follow each other. */
  readonly workflows: Workflows = new Workflows(this);
  /** Events that are sent to an address. */
  readonly webhooks: Webhooks = new Webhooks(this);

  /** Runs code and waits for its result. Aborting stops the waiting; the run continues. */
  async run(code: string, options: CodeOptions = {}): Promise<ShownResult> {
    const { language = 'python', idempotencyKey, signal, ...request } = options;
    const run = await this.submit({ ...request, blocks: [{ language, code }] }, { idempotencyKey, signal });
    return await run.result({ signal });
  }

  /** Returns as soon as the run is accepted: from then on it ends in exactly one result. */
  async submit(request: JobRequest, options: OnceOptions = {}): Promise<Run> {
    const { run, ...told } = await submitJob(this, request, options);
    return new Run(this, run, { warnings: told.warnings, receipt: 'receipt' in told ? told.receipt : undefined });
  }

  /**
   * Starts a session: one sealed cell for many steps, which share its files and the names of its Python steps.
   *
   * await using session = await hotcell.session();
   * await session.run('x = 1');
   * console.log((await session.run('x + 1')).outputs);
   */
  async session({ idempotencyKey, signal, ...request }: SessionOptions = {}): Promise<Session> {
    const { run, ...told } = await sendOnce(this, { idempotencyKey, signal }, (headers) =>
      this.call(routes.startSession, { json: request, headers, signal }),
    );
    return new Session(this, run, told);
  }

  /** A handle of a session that was started earlier. */
  sessionById(id: string): Session {
    return new Session(this, id);
  }

  /** A handle of a run that was submitted earlier. */
  runById(id: string): Run {
    return new Run(this, id);
  }

  async show(id: string): Promise<RunView> {
    return await this.runById(id).show();
  }

  /** A page of runs, newest first. Its `next` is the `cursor` of the page after it. */
  async list(query: Call<typeof routes.listRuns>['query'] = {}) {
    return await this.call(routes.listRuns, { query });
  }

  /** The policies that a run can name. */
  async policies(): Promise<JsonAnswer<typeof routes.listPolicies>> {
    return await this.call(routes.listPolicies, {});
  }

  /** One policy, merged and resolved. */
  async policy(name: string): Promise<PolicyView> {
    return await this.call(routes.getPolicy, { params: { policy: name } });
  }

  /** Freezes a local folder or file, `s3://bucket/prefix` or `RUN:outputs`. Its id or name is then an input of runs. */
  async snapshot(source: string, options: UploadOptions = {}): Promise<CreatedSnapshot> {
    const { name, signal } = options;
    if (/^s3:\/\/|^[0-9a-f-]{36}:outputs$/.test(source)) {
      const json = { source, ...(name !== undefined && { name }) };
      return await this.call(routes.createSnapshot, { json, signal });
    }
    // Most programs upload nothing and start faster without this module.
    const { uploadSnapshot } = await import('./upload.ts');
    return await uploadSnapshot(this, source, options);
  }
}

/** @public What users of the SDK name. */
export {
  check,
  type ClientSettings,
  HotcellError,
  type Input,
  type ShownResult as Result,
  routes,
  type Run,
  RunFailed,
  type RunRequest,
  type Session,
  type Step,
};
