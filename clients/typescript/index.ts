import { Batches } from './batches-client.ts';
import { routes } from '@hotcell/contract/api/routes.ts';
import type { RunView, ShownResult } from '@hotcell/contract/api/runs.ts';
import type { CreatedSnapshot } from '@hotcell/contract/api/snapshots.ts';
import { HotcellError } from '@hotcell/contract/errors.ts';
import type { RunRequest } from '@hotcell/contract/spec.ts';
import type { Call } from '@hotcell/contract/api/call.ts';
import { type ClientSettings, Http } from './http.ts';
import { Run } from './run-handle.ts';
import { Schedules } from './schedules-client.ts';
import { Workflows } from './workflows-client.ts';
import type { UploadOptions } from './upload.ts';

export interface SubmitOptions {
  /** The same key and the same request again give the same run. */
  idempotencyKey?: string | undefined;
  signal?: AbortSignal | undefined;
}

export interface CodeOptions extends Omit<RunRequest, 'blocks'>, SubmitOptions {
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

  /** Runs code and waits for its result. Aborting stops the waiting; the run continues. */
  async run(code: string, options: CodeOptions = {}): Promise<ShownResult> {
    const { language = 'python', idempotencyKey, signal, ...request } = options;
    const run = await this.submit({ ...request, blocks: [{ language, code }] }, { idempotencyKey, signal });
    return await run.result({ signal });
  }

  /** Returns as soon as the run is accepted: from then on it ends in exactly one result. */
  async submit(request: RunRequest, { idempotencyKey, signal }: SubmitOptions = {}): Promise<Run> {
    const headers: Record<string, string> = idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey };
    const { run, ...told } = await this.call(routes.submitRun, { json: request, headers, signal });
    return new Run(this, run, { warnings: told.warnings, receipt: 'receipt' in told ? told.receipt : undefined });
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

  /** Freezes a local folder or file. Its id or name can then be an input of runs. */
  async snapshot(source: string, options: UploadOptions = {}): Promise<CreatedSnapshot> {
    // Most programs upload nothing and start faster without this module.
    const { uploadSnapshot } = await import('./upload.ts');
    return await uploadSnapshot(this, source, options);
  }
}

/** @public What users of the SDK name. */
export { type ClientSettings, HotcellError, type ShownResult as Result, routes, type Run, type RunRequest };
