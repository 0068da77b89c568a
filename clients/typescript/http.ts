import { type ErrorCode, errorCodes, HotcellError, type Issue, messageOf } from '@hotcell/contract/errors.ts';
import { parseAs } from '@hotcell/contract/parse.ts';
import { z } from 'zod';

export interface ClientSettings {
  /** Where the API is, for example http://127.0.0.1:7411 */
  url: string;
  apiKey: string;
  /** Another tenant than the key's: the operator's right alone. */
  tenant?: string | undefined;
}

export interface RequestOptions {
  json?: unknown;
  body?: Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array>;
  headers?: Readonly<Record<string, string>>;
  signal?: AbortSignal | undefined;
}

const ProblemBody = z.looseObject({
  code: z.string().default('internal'),
  detail: z.string().default(''),
  title: z.string().default(''),
  errors: z.array(z.object({ path: z.string(), message: z.string() })).default([]),
});

/** One request, its answer or its error, with the codes and reasons of the API. */
export class Http {
  readonly #settings: ClientSettings;

  constructor(settings: ClientSettings) {
    this.#settings = { ...settings, url: settings.url.replace(/\/+$/, '') };
  }

  async json<S extends z.ZodType>(
    schema: S,
    method: string,
    path: string,
    options: RequestOptions = {},
  ): Promise<z.output<S>> {
    const answer = await this.stream(method, path, options);
    const text = await answer.text();
    const value: unknown = text === '' ? undefined : JSON.parse(text);
    return parseAs(schema, value, `the answer to ${method} ${path}`, 'internal');
  }

  /** The answer as it comes, for those that are long; the caller reads it or cancels it. */
  async stream(method: string, path: string, options: RequestOptions = {}): Promise<Response> {
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
    `nobody answers at ${url} (${why || 'no connection'}): start the services with ./hotcell up, or set HOTCELL_URL`,
    { cause },
  );
}

function isCode(code: string): code is ErrorCode {
  return Object.hasOwn(errorCodes, code);
}

async function refusalOf(answer: Response): Promise<HotcellError> {
  const said = ProblemBody.safeParse(await answer.json().catch(() => undefined));
  if (!said.success) return new HotcellError('internal', `the API answered ${answer.status} and no reason`);
  const { code, detail, title, errors, ...extra } = said.data;
  const issues: Issue[] = errors;
  return new HotcellError(isCode(code) ? code : 'internal', detail || title, { issues, extra });
}
