import { type ErrorCode, errorCodes, HotcellError, messageOf } from '@hotcell/contract/errors.ts';
import { Problem } from '@hotcell/contract/api/problem.ts';
import { type JsonAnswer, ndjson, type Route } from '@hotcell/contract/api/route.ts';
import { addressOf, type Call, parseRow, readAnswer, type Row } from './call.ts';
import { linesOf } from './lines.ts';

export interface ClientSettings {
  /** The address of the API, for example http://127.0.0.1:7411. Default: HOTCELL_URL. */
  url?: string | undefined;
  /** Default: HOTCELL_API_KEY. */
  apiKey?: string | undefined;
  /** Acts for another tenant than the key's. Only the operator may. */
  tenant?: string | undefined;
}

export interface RequestOptions {
  json?: unknown;
  body?: Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array>;
  headers?: Readonly<Record<string, string>>;
  signal?: AbortSignal | undefined;
}

/** Sends requests. A refusal becomes an error with the code and the reasons that the API gives. */
export class Http {
  readonly #url: string;
  readonly #headers: Readonly<Record<string, string>>;

  constructor(settings: ClientSettings = {}) {
    const { url = process.env['HOTCELL_URL'] ?? '', apiKey = process.env['HOTCELL_API_KEY'], tenant } = settings;
    if (!URL.canParse(url))
      throw new HotcellError(
        'invalid',
        `${url === '' ? 'No API address' : `${url} is not an address`}. Set HOTCELL_URL, for example to http://127.0.0.1:7411.`,
      );
    if (!apiKey) throw new HotcellError('unauthenticated', 'No API key. Pass apiKey or set HOTCELL_API_KEY.');
    this.#url = url.replace(/\/+$/, '');
    this.#headers = { authorization: `Bearer ${apiKey}`, ...(tenant !== undefined && { 'hotcell-tenant': tenant }) };
  }

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
    return await this.send(route.method, addressOf(route, call), call);
  }

  async send(method: string, path: string, options: RequestOptions = {}): Promise<Response> {
    const { json, signal } = options;
    const body = json === undefined ? options.body : JSON.stringify(json);
    let answer: Response;
    try {
      answer = await fetch(`${this.#url}${path}`, {
        method,
        headers: {
          ...this.#headers,
          ...options.headers,
          ...(json !== undefined && { 'content-type': 'application/json' }),
        },
        redirect: 'error',
        ...(body !== undefined && { body, duplex: 'half' }),
        ...(signal && { signal }),
      });
    } catch (cause) {
      signal?.throwIfAborted();
      throw unreachable(this.#url, cause);
    }
    if (!answer.ok) throw await refusalOf(answer);
    return answer;
  }
}

function unreachable(url: string, cause: unknown): HotcellError {
  const why = cause instanceof Error && cause.cause !== undefined ? messageOf(cause.cause) : messageOf(cause);
  return new HotcellError(
    'api_unreachable',
    `No answer from ${url} (${why || 'no connection'}). Start the services with ./hotcell up, or set HOTCELL_URL.`,
    { cause },
  );
}

async function refusalOf(answer: Response): Promise<HotcellError> {
  const parsed = Problem.safeParse(await answer.json().catch(() => undefined));
  if (!parsed.success) return new HotcellError('internal', `The API answered ${answer.status} without a reason.`);
  return errorOf(parsed.data);
}

/** The error that a problem of the API describes. A newer API may have codes that this client does not know. */
export function errorOf({ code, detail, errors: issues, ...extra }: Problem): HotcellError {
  return new HotcellError(isCode(code) ? code : 'internal', detail, { issues, extra });
}

function isCode(code: string): code is ErrorCode {
  return Object.hasOwn(errorCodes, code);
}
