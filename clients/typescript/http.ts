import { refusalOf } from '@hotcell/contract/api/refusal.ts';
import { type RequestOptions, RouteCaller } from '@hotcell/contract/api/route-caller.ts';
import { HotcellError, messageOf } from '@hotcell/contract/errors.ts';

export interface ClientSettings {
  /** The address of the API, for example http://127.0.0.1:7411. Default: HOTCELL_URL. */
  url?: string | undefined;
  /** Default: HOTCELL_API_KEY. */
  apiKey?: string | undefined;
  /** Acts for another tenant than the key's. Only the operator may. */
  tenant?: string | undefined;
  /** Sends a submission again for up to two minutes when no answer comes. Default: true. */
  patient?: boolean | undefined;
}

/** Sends requests with a key. */
export class Http extends RouteCaller {
  /** Whether what makes something is sent again when no answer comes. */
  readonly patient: boolean;
  readonly #url: string;
  readonly #headers: Readonly<Record<string, string>>;

  constructor(settings: ClientSettings = {}) {
    super();
    const { url = process.env['HOTCELL_URL'] ?? '', apiKey = process.env['HOTCELL_API_KEY'], tenant } = settings;
    if (!URL.canParse(url))
      throw new HotcellError(
        'invalid',
        `${url === '' ? 'No API address' : `${url} is not an address`}. Set HOTCELL_URL, for example to http://127.0.0.1:7411.`,
      );
    if (!apiKey) throw new HotcellError('unauthenticated', 'No API key. Pass apiKey or set HOTCELL_API_KEY.');
    if (!/^[\x21-\x7e]+$/.test(apiKey))
      throw new HotcellError('unauthenticated', 'The API key has characters that no key has. Check HOTCELL_API_KEY.');
    this.patient = settings.patient ?? true;
    this.#url = url.replace(/\/+$/, '');
    this.#headers = { authorization: `Bearer ${apiKey}`, ...(tenant !== undefined && { 'hotcell-tenant': tenant }) };
  }

  override async send(method: string, path: string, options: RequestOptions = {}): Promise<Response> {
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
