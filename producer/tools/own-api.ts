import { refusalOf } from '@hotcell/contract/api/refusal.ts';
import { type RequestOptions, RouteCaller } from '@hotcell/contract/api/route-caller.ts';
import { HotcellError } from '@hotcell/contract/errors.ts';

/**
 * This process's own API, asked over HTTP with the caller's key: what a tool does is authenticated, judged, counted and
 * bounded like any other request, and a mistake in a tool can do no more than its caller could.
 */
export class OwnApi extends RouteCaller {
  readonly #address: string;
  readonly #key: Readonly<Record<string, string>>;

  /** `key`: the headers by which the caller is known. */
  constructor(address: string, key: Readonly<Record<string, string>>) {
    super();
    this.#address = address;
    this.#key = key;
  }

  override async send(method: string, path: string, options: RequestOptions = {}): Promise<Response> {
    const { json, signal } = options;
    const body = json === undefined ? options.body : JSON.stringify(json);
    let answer: Response;
    try {
      answer = await fetch(`${this.#address}${path}`, {
        method,
        headers: {
          ...options.headers,
          ...(json !== undefined && { 'content-type': 'application/json' }),
          ...this.#key,
          // A connection counts for one tenant: the next request may be another's.
          connection: 'close',
        },
        redirect: 'error',
        ...(body !== undefined && { body, duplex: 'half' }),
        ...(signal && { signal }),
      });
    } catch (cause) {
      signal?.throwIfAborted();
      throw new HotcellError('api_unreachable', 'The API does not answer at the moment. Try again.', { cause });
    }
    if (!answer.ok) throw await refusalOf(answer);
    return answer;
  }
}
