import { type ErrorCode, errorCodes, HotcellError, messageOf } from '@hotcell/contract/errors.ts';
import { Problem } from '@hotcell/contract/api/problem.ts';
import type { JsonAnswer, Route } from '@hotcell/contract/api/route.ts';
import { addressOf, type Call, readAnswer } from './call.ts';

export interface ClientSettings {
  /** Where the API is, for example http://127.0.0.1:7411 */
  url: string;
  apiKey: string;
  /** Another tenant than the key's: for the operator only. */
  tenant?: string | undefined;
}

export interface RequestOptions {
  json?: unknown;
  body?: Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array>;
  headers?: Readonly<Record<string, string>>;
  signal?: AbortSignal | undefined;
}

/** One request, and its answer, or its error with the code and the reasons of the API. */
export class Http {
  readonly #settings: ClientSettings;

  constructor(settings: ClientSettings) {
    this.#settings = { ...settings, url: settings.url.replace(/\/+$/, '') };
  }

  /** Calls a route of the table, and parses what it answers by the table's schema. */
  async call<R extends Route>(route: R, call: Call<R>): Promise<JsonAnswer<R>> {
    return await readAnswer(route, await this.open(route, call));
  }

  /** The same for a long answer: it is given as it comes, and the caller reads it to its end or cancels it. */
  async open<R extends Route>(route: R, call: Call<R>): Promise<Response> {
    return await this.send(route.method, addressOf(route, call), call);
  }

  async send(method: string, path: string, options: RequestOptions = {}): Promise<Response> {
    const { url, apiKey, tenant } = this.#settings;
    const headers: Record<string, string> = { authorization: `Bearer ${apiKey}`, ...options.headers };
    if (tenant !== undefined) headers['hotcell-tenant'] = tenant;
    if (options.json !== undefined) headers['content-type'] = 'application/json';
    const body = options.json === undefined ? options.body : JSON.stringify(options.json);
    let answer: Response;
    try {
      answer = await fetch(`${url}${path}`, {
        method,
        headers,
        redirect: 'error',
        ...(body === undefined ? {} : { body, duplex: 'half' }),
        ...(options.signal ? { signal: options.signal } : {}),
      });
    } catch (cause) {
      if (options.signal?.aborted) throw options.signal.reason;
      throw unreachable(url, cause);
    }
    if (!answer.ok) throw await refusalOf(answer);
    return answer;
  }
}

function unreachable(url: string, cause: unknown): HotcellError {
  const why = cause instanceof Error && cause.cause !== undefined ? messageOf(cause.cause) : messageOf(cause);
  return new HotcellError(
    'api_unreachable',
    `no answer from ${url} (${why || 'no connection'}): start the services with ./hotcell up, or set HOTCELL_URL`,
    { cause },
  );
}

function isCode(code: string): code is ErrorCode {
  return Object.hasOwn(errorCodes, code);
}

async function refusalOf(answer: Response): Promise<HotcellError> {
  const parsed = Problem.safeParse(await answer.json().catch(() => undefined));
  if (!parsed.success) return new HotcellError('internal', `the API answered ${answer.status} without a reason`);
  const { code, detail, errors: issues, ...extra } = parsed.data;
  return new HotcellError(isCode(code) ? code : 'internal', detail, { issues, extra });
}
