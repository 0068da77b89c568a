import type { RunEvent, ShownRow } from '@hotcell/contract/api/events.ts';
import { routes } from '@hotcell/contract/api/routes.ts';
import { isFinished, type RerunRequest, type RunView, type ShownResult } from '@hotcell/contract/api/runs.ts';
import type { EvidenceBundle } from '@hotcell/contract/evidence/evidence-bundle.ts';
import type { Receipt } from '@hotcell/contract/evidence/receipt.ts';
import { HotcellError } from '@hotcell/contract/errors.ts';
import type { Result } from '@hotcell/contract/result.ts';
import type { Spec } from '@hotcell/contract/spec.ts';
import { Backoff } from './backoff.ts';
import type { Http } from './http.ts';

/** The longest that one request waits for a result. */
const waitSeconds = 60;

interface ReadOptions {
  /** Skips everything up to this sequence number. */
  after?: number | undefined;
  signal?: AbortSignal | undefined;
}

/** What an answer to a submission says beside the run's id. */
interface Told {
  warnings?: readonly string[] | undefined;
  receipt?: Receipt | undefined;
}

/** A handle of an accepted run. Aborting a signal stops the waiting; only `cancel` ends the run. */
export class Run {
  readonly id: string;
  /** What in the code will probably not work in a cell. */
  readonly warnings: readonly string[];
  /** The signed promise that this run was accepted, where this program submitted it: keep it. */
  readonly receipt: Receipt | undefined;
  protected readonly http: Http;

  constructor(http: Http, id: string, { warnings = [], receipt }: Told = {}) {
    this.http = http;
    this.id = id;
    this.warnings = warnings;
    this.receipt = receipt;
  }

  /** Names its outputs, as an input of other runs. */
  get asInput(): string {
    return `${this.id}:outputs`;
  }

  async isFinished(): Promise<boolean> {
    return isFinished(await this.show());
  }

  async show(): Promise<RunView> {
    return await this.http.call(routes.getRun, { params: { run: this.id } });
  }

  /** What the run was asked to do: code, files, params, and the digests of everything else. */
  async spec(): Promise<Spec> {
    return await this.http.call(routes.getSpec, { params: { run: this.id } });
  }

  /** Waits for the result. A program that failed is a result, not an error. */
  async result({ signal }: { signal?: AbortSignal | undefined } = {}): Promise<ShownResult> {
    const backoff = new Backoff();
    for (;;) {
      try {
        const headers = { prefer: `wait=${waitSeconds}` };
        const params = { run: this.id };
        const view = await this.http.call(routes.getRun, { params, headers, signal });
        if (isFinished(view)) return view;
        backoff.succeeded();
      } catch (error) {
        await backoff.failed(error, signal);
      }
    }
  }

  /** Yields the log, from its start or after a row. Unless `follow` is false, continues until the run is finished. */
  async *logs({ after, follow = true, signal }: ReadOptions & { follow?: boolean } = {}): AsyncGenerator<ShownRow> {
    yield* this.#resume(after, signal, (query, http, params) =>
      http.rows(routes.readLog, { params, query: { ...query, follow: follow ? 'true' : 'false' }, signal }),
    );
  }

  /** Yields every status, every log row and, last, the result. */
  async *events({ after, signal }: ReadOptions = {}): AsyncGenerator<RunEvent> {
    yield* this.#resume(after, signal, async function* (query, http, params) {
      for await (const event of http.rows(routes.followRun, { params, query, signal })) {
        yield event;
        if (event.type === 'result') return;
      }
      // An API that restarts ends its streams early; the next request continues.
      throw new HotcellError('api_unreachable', 'The API ended the stream before the run was finished.');
    });
  }

  async cancel(reason?: string): Promise<void> {
    const json = reason === undefined ? {} : { reason };
    await this.http.call(routes.cancelRun, { params: { run: this.id }, json });
  }

  async rerun(options: RerunRequest = {}): Promise<Run> {
    const params = { run: this.id };
    const { run, ...told } = await this.http.call(routes.rerunRun, { params, json: options });
    return new Run(this.http, run, told);
  }

  /** The files that a finished run left in /outputs. */
  async outputs(): Promise<Result['outputs']> {
    return await this.http.call(routes.listOutputs, { params: { run: this.id } });
  }

  /** The signed statement about how the run ended: a Sigstore bundle. */
  async evidence(): Promise<EvidenceBundle> {
    return await this.http.call(routes.getEvidence, { params: { run: this.id } });
  }

  /** Opens one output. A caller that keeps the bytes compares them with the file's `sha256`. */
  async output(path: string, signal?: AbortSignal): Promise<Response> {
    return await this.http.open(routes.getOutput, { params: { run: this.id, path }, signal });
  }

  /** The bytes of one output; an error if they are not those of the result. */
  async bytes(path: string, signal?: AbortSignal): Promise<Buffer> {
    const { files } = await this.outputs();
    const file = files.find((one) => one.path === path);
    if (!file) throw new HotcellError('not_found', `Run ${this.id} has no output ${path}.`);
    const { checked } = await import('./save-outputs.ts');
    return Buffer.concat(await Array.fromAsync(checked(this, file, signal)));
  }

  /** Saves its outputs at their own paths under a folder, every byte checked. Writes nothing outside it. */
  async save(
    folder: string,
    { signal }: { signal?: AbortSignal | undefined } = {},
  ): Promise<Result['outputs']['files']> {
    const { files } = await this.outputs();
    const { saveOutputs } = await import('./save-outputs.ts');
    await saveOutputs(this, files, folder, { signal });
    return files;
  }

  /** Resumes a broken stream behind the last row that arrived: nothing comes twice, nothing is missing. */
  async *#resume<T extends object>(
    from: number | undefined,
    signal: AbortSignal | undefined,
    open: (query: { after: number }, http: Http, params: { run: string }) => AsyncIterable<T>,
  ): AsyncGenerator<T> {
    const backoff = new Backoff();
    let after = from ?? -1;
    for (;;) {
      try {
        for await (const item of open({ after }, this.http, { run: this.id })) {
          backoff.succeeded();
          if ('seq' in item && typeof item.seq === 'number') after = item.seq;
          yield item;
        }
        return;
      } catch (error) {
        await backoff.failed(error, signal);
      }
    }
  }
}
