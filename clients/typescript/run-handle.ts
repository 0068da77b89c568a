import { HotcellError } from '@hotcell/contract/errors.ts';
import { LogRow } from '@hotcell/contract/log-rows.ts';
import { parseJsonAs } from '@hotcell/contract/parse.ts';
import type { Result } from '@hotcell/contract/result.ts';
import type { RunView } from '@hotcell/contract/api/runs.ts';
import type { Http } from './http.ts';
import { linesOf } from './lines.ts';
import { Patience } from './client-patience.ts';
import { Accepted, AnyView, isFinished, RunEvent } from './views.ts';

/** One request waits at most this long; waiting goes on with the next. */
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

  get path(): string {
    return `/v1/runs/${encodeURIComponent(this.id)}`;
  }

  async show(signal?: AbortSignal): Promise<RunView> {
    return await this.#http.json(AnyView, 'GET', this.path, { signal });
  }

  /** The result, whatever the outcome: a program that failed is an answer, not an error. */
  async result(options: { signal?: AbortSignal } = {}): Promise<Result> {
    const patience = new Patience();
    for (;;) {
      try {
        const headers = { prefer: `wait=${waitSeconds}` };
        const view = await this.#http.json(AnyView, 'GET', this.path, { headers, signal: options.signal });
        if (isFinished(view)) return view;
        patience.succeeded();
      } catch (error) {
        await patience.failed(error, options.signal);
      }
    }
  }

  /** What the job wrote, from the start (or after a row), and then as it comes, until the run is finished. */
  async *logs(options: Reading & { follow?: boolean } = {}): AsyncGenerator<LogRow> {
    const follow = options.follow ?? true;
    yield* this.#resume(options.after ?? -1, options.signal, async function* (after, http, path) {
      const answer = await http.stream('GET', `${path}/logs?after=${after}&follow=${follow}`, options);
      for await (const line of linesOf(answer)) yield parseJsonAs(LogRow, line, 'a row of the log', 'internal');
    });
  }

  /** Status, log rows, and at the end the result: everything that happens to the run. */
  async *events(options: Reading = {}): AsyncGenerator<RunEvent> {
    yield* this.#resume(options.after ?? -1, options.signal, async function* (after, http, path) {
      const answer = await http.stream('GET', `${path}/events?after=${after}`, { signal: options.signal });
      for await (const line of linesOf(answer)) {
        const event = parseJsonAs(RunEvent, line, 'an event of the run', 'internal');
        yield event;
        if (event.type === 'result') return;
      }
      // The API ends a stream early when it is restarted: whoever follows goes on at the next.
      throw new HotcellError('api_unreachable', 'the API ended the stream before the run was finished');
    });
  }

  async cancel(reason?: string): Promise<void> {
    await this.#http.json(AnyView, 'POST', `${this.path}/cancel`, { json: reason === undefined ? {} : { reason } });
  }

  async rerun(options: { latestInputs?: boolean } = {}): Promise<Run> {
    const { run, warnings } = await this.#http.json(Accepted, 'POST', `${this.path}/rerun`, { json: options });
    return new Run(this.#http, run, warnings);
  }

  /** A file that the run left, as it comes. Whoever keeps it checks its digest. */
  async output(path: string, signal?: AbortSignal): Promise<Response> {
    const encoded = path.split('/').map(encodeURIComponent).join('/');
    return await this.#http.stream('GET', `${this.path}/outputs/${encoded}`, { signal });
  }

  /** A stream that breaks is taken up again behind the last row that came: nothing twice, nothing missing. */
  async *#resume<T extends object>(
    from: number,
    signal: AbortSignal | undefined,
    open: (after: number, http: Http, path: string) => AsyncIterable<T>,
  ): AsyncGenerator<T> {
    const patience = new Patience();
    let after = from;
    for (;;) {
      try {
        for await (const item of open(after, this.#http, this.path)) {
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
