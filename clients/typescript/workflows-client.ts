import { setTimeout as pause } from 'node:timers/promises';
import { routes } from '@hotcell/contract/api/routes.ts';
import type { ListedWorkflow, ShownWorkflow } from '@hotcell/contract/api/workflows.ts';
import type { Call } from '@hotcell/contract/api/call.ts';
import type { Http } from './http.ts';
import { type OnceOptions, sendOnce } from './send-once.ts';

type NewWorkflow = Call<typeof routes.createWorkflow>['json'];
type Page = Call<typeof routes.listWorkflows>['query'];

const firstMs = 100;
const longestMs = 2_000;

/** Runs that follow each other: `await hotcell.workflows.begin({ name: 'nightly', steps: { extract: { run } } })`. */
export class Workflows {
  readonly #http: Http;

  constructor(http: Http) {
    this.#http = http;
  }

  /** Its runs have the rights of this client's key. */
  async begin(workflow: NewWorkflow, options: OnceOptions = {}): Promise<ShownWorkflow> {
    const { signal } = options;
    return await sendOnce(this.#http, options, (headers) =>
      this.#http.call(routes.createWorkflow, { json: workflow, headers, signal }),
    );
  }

  async show(workflow: string): Promise<ShownWorkflow> {
    return await this.#http.call(routes.getWorkflow, { params: { workflow } });
  }

  /** How it ended. `onChange` is told how it stands meanwhile. The signal ends the waiting, not the workflow. */
  async end(
    workflow: string,
    { signal, onChange }: { signal?: AbortSignal; onChange?: (shown: ShownWorkflow) => void } = {},
  ): Promise<ShownWorkflow> {
    for (let waitMs = firstMs; ; waitMs = Math.min(longestMs, waitMs * 2)) {
      const shown = await this.show(workflow);
      onChange?.(shown);
      if (shown.outcome !== null) return shown;
      await pause(waitMs, undefined, signal ? { signal } : {});
    }
  }

  /** A page of workflows, the newest first. Its `next` is the `cursor` of the page after it. */
  async list(query: Page = {}): Promise<{ workflows: ListedWorkflow[]; next: string | null }> {
    return await this.#http.call(routes.listWorkflows, { query });
  }

  /** Its runs are cancelled, and no more are begun. */
  async cancel(workflow: string, reason?: string): Promise<ShownWorkflow> {
    const json = reason === undefined ? {} : { reason };
    return await this.#http.call(routes.cancelWorkflow, { params: { workflow }, json });
  }

  /** What did not succeed again; with `from`, that step and all that come after it, too. */
  async rerun(workflow: string, from?: string): Promise<ShownWorkflow> {
    return await this.#http.call(routes.rerunWorkflow, {
      params: { workflow },
      json: from === undefined ? {} : { from },
    });
  }
}
