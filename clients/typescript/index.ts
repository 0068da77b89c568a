import { routes } from '@hotcell/contract/api/routes.ts';
import type { Result } from '@hotcell/contract/result.ts';
import type { RunRequest } from '@hotcell/contract/spec.ts';
import { type ClientSettings, Http } from './http.ts';
import { Run } from './run-handle.ts';

export interface Submitting {
  /** The same key and the same request again give the same run. */
  idempotencyKey?: string | undefined;
  signal?: AbortSignal | undefined;
}

/**
 * const hotcell = new Hotcell({ url, apiKey });
 * const run = await hotcell.submit({ blocks: [{ language: 'python', code: 'print(1)' }] });
 * for await (const row of run.logs()) process.stdout.write(row.text ?? '');
 * const result = await run.result();
 */
export class Hotcell {
  readonly http: Http;

  constructor(settings: ClientSettings) {
    this.http = new Http(settings);
  }

  async submit(request: RunRequest, options: Submitting = {}): Promise<Run> {
    const headers: Record<string, string> =
      options.idempotencyKey === undefined ? {} : { 'idempotency-key': options.idempotencyKey };
    const { run, warnings } = await this.http.call(routes.submitRun, {
      json: request,
      headers,
      signal: options.signal,
    });
    return new Run(this.http, run, warnings);
  }

  run(id: string): Run {
    return new Run(this.http, id);
  }
}

/** @public What users of the SDK name. */
export type { ClientSettings, Result, Run, RunRequest };
