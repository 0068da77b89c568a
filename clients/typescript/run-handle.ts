import { ShownRow, RunEvent } from '@hotcell/contract/api/events.ts';
import { routes } from '@hotcell/contract/api/routes.ts';
import { isFinished, type RunView } from '@hotcell/contract/api/runs.ts';
import { HotcellError } from '@hotcell/contract/errors.ts';
import type { Result } from '@hotcell/contract/result.ts';
import { parseTolerantly } from './call.ts';
import { Patience } from './client-patience.ts';
import type { Http } from './http.ts';
import { linesOf } from './lines.ts';

/** One request waits this long at most; the next one continues. */
const waitSeconds = 60;

export interface Reading {
  /** Only what comes after this sequence number. */
  after?: number | undefined;
  signal?: AbortSignal | undefined;
}

/** A run that was accepted. Aborting stops the waiting; only `cancel` ends the run. */
export class Run {
  readonly id: string;
  /** Advice about the code, given when it was submitted. */
  readonly warnings: readonly string[];
  readonly #http: Http;

  constructor(http: Http, id: string, warnings: readonly string[] = []) {
    this.#http = http;
    this.id = id;
    this.warnings = warnings;
  }

  async show(signal?: AbortSignal): Promise<RunView> {
    return await this.#http.call(routes.getRun, { params: { run: this.id }, signal });
  }

  /** The result, whatever the outcome: a program that failed is an answer, not an error. */
  async result(options: { signal?: AbortSignal } = {}): Promise<Result> {
    const patience = new Patience();
    for (;;) {
      try {
        const headers = { prefer: `wait=${waitSeconds}` };
        const params = { run: this.id };
        const view = await this.#http.call(routes.getRun, { params, headers, signal: options.signal });
        if (isFinished(view)) return view;
        patience.succeeded();
      } catch (error) {
        await patience.failed(error, options.signal);
      }
    }
  }

  /** What the job wrote, from the start or after a row, then as it comes until the run is finished. */
  async *logs(options: Reading & { follow?: boolean } = {}): AsyncGenerator<ShownRow> {
    const follow = options.follow ?? true;
    const { signal } = options;
    yield* this.#resume(options.after ?? -1, signal, async function* (after, http, params) {
      const query = { after, follow: follow ? ('true' as const) : ('false' as const) };
      const answer = await http.open(routes.readLog, { params, query, signal });
      for await (const line of linesOf(answer)) yield parseTolerantly(ShownRow, line, 'a row of the log');
    });
  }

  /** Everything that happens to the run: its status, its log rows and, last, its result. */
  async *events(options: Reading = {}): AsyncGenerator<RunEvent> {
    const { signal } = options;
    yield* this.#resume(options.after ?? -1, signal, async function* (after, http, params) {
      const answer = await http.open(routes.followRun, { params, query: { after }, signal });
      for await (const line of linesOf(answer)) {
        const event = parseTolerantly(RunEvent, line, 'an event of the run');
        yield event;
        if (event.type === 'result') return;
      }
      // An API that is restarted ends its streams early: the next one continues.
      throw new HotcellError('api_unreachable', 'the API ended the stream before the run was finished');
    });
  }

  async cancel(reason?: string): Promise<void> {
    const json = reason === undefined ? {} : { reason };
    await this.#http.call(routes.cancelRun, { params: { run: this.id }, json });
  }

  async rerun(options: { latestInputs?: boolean } = {}): Promise<Run> {
    const params = { run: this.id };
    const { run, warnings } = await this.#http.call(routes.rerunRun, { params, json: options });
    return new Run(this.#http, run, warnings);
  }

  /** An output as it comes. A caller that keeps it checks its digest. */
  async output(path: string, signal?: AbortSignal): Promise<Response> {
    return await this.#http.open(routes.getOutput, { params: { run: this.id, path }, signal });
  }

  /** A stream that breaks is resumed behind the last row that came: nothing twice, nothing missing. */
  async *#resume<T extends object>(
    from: number,
    signal: AbortSignal | undefined,
    open: (after: number, http: Http, params: { run: string }) => AsyncIterable<T>,
  ): AsyncGenerator<T> {
    const patience = new Patience();
    let after = from;
    for (;;) {
      try {
        for await (const item of open(after, this.#http, { run: this.id })) {
          patience.succeeded();
          if ('seq' in item && typeof item.seq === 'number') after = item.seq;
          yield item;
        }
        return;
      } catch (error) {
        await patience.failed(error, signal);
      }
    }
  }
}
