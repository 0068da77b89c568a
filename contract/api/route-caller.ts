import { addressOf, type Call, parseRow, readAnswer, type Row } from './call.ts';
import { parseAs } from '../parse.ts';
import { linesOf } from './lines.ts';
import { type JsonAnswer, ndjson, type Route } from './route.ts';

export interface RequestOptions {
  json?: unknown;
  body?: Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array>;
  headers?: Readonly<Record<string, string>>;
  signal?: AbortSignal | undefined;
}

/** Calls routes of the table over any way to the API. A refusal becomes an error with the API's code and reasons. */
export abstract class RouteCaller {
  abstract send(method: string, path: string, options?: RequestOptions): Promise<Response>;

  /** Calls a route of the table and parses the answer with the table's schema. */
  async call<R extends Route>(route: R, call: Call<R>): Promise<JsonAnswer<R>> {
    return await readAnswer(route, await this.open(route, call));
  }

  /** Yields the rows of a stream as they arrive. */
  async *rows<R extends Route>(route: R, call: Call<R>): AsyncGenerator<Row<R>> {
    const answer = await this.open(route, { ...call, headers: { ...call.headers, accept: ndjson } });
    for await (const line of linesOf(answer)) yield parseRow(route, line);
  }

  /** Returns the body unread. Read it to its end or cancel it, or the connection stays pinned. */
  async open<R extends Route>(route: R, call: Call<R>): Promise<Response> {
    // What no header can carry would look like an API that does not answer.
    if (route.headers) parseAs(route.headers, call.headers ?? {}, 'the request');
    return await this.send(route.method, addressOf(route, call), call);
  }
}
