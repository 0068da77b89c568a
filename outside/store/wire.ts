import type { Pool } from 'undici';
import { LineBroken, QuickLine } from './quick-line.ts';

/** Takes the bytes as they come. While the promise it returns is open, the store is not read on. */
export type Sink = (chunk: Buffer) => Promise<void> | undefined;

export interface WireSettings {
  endpoint: string;
  /** How many requests may be under way at once. */
  sockets?: number;
  /** A store that sends nothing for this long counts as hung: the request fails instead of waiting for ever. */
  silenceMs?: number;
}

export interface WireRequest {
  method: 'GET' | 'PUT' | 'HEAD';
  path: string;
  headers: Record<string, string>;
  body: Uint8Array | null;
  signal: AbortSignal | null;
}

export interface WireAnswer {
  status: number;
  headers: Readonly<Record<string, string | string[] | undefined>>;
  /** The beginning of a body that no sink took: an error's code is in it. */
  text: string;
}

/** Kept connections to one store: quick lines for what flows, and a general client for all the rest. */
export class Wire implements AsyncDisposable {
  readonly #openPool: () => Promise<Pool>;
  #pool: Promise<Pool> | undefined;
  readonly #newLine: () => QuickLine;
  /** Kept connections that are idle now, and the requests that wait for one. */
  readonly #lines: QuickLine[] = [];
  readonly #waiting: (() => void)[] = [];
  readonly #mostBusy: number;
  #busy = 0;

  constructor({ endpoint, sockets = 64, silenceMs = 30_000 }: WireSettings) {
    const url = new URL(endpoint);
    this.#newLine = () => new QuickLine(url, silenceMs);
    this.#mostBusy = sockets;
    this.#openPool = async () => {
      // Threads that only fetch never need it, and it would cost them more memory than all that they hold.
      const { Pool } = await import('undici');
      const timeouts = { connectTimeout: 5_000, headersTimeout: silenceMs, bodyTimeout: silenceMs };
      return new Pool(url.origin, { connections: sockets, pipelining: 1, ...timeouts });
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const line of this.#lines) line.close();
    await (await this.#pool)?.destroy();
  }

  /** The body of a 200 goes to the sink. */
  async ask(request: WireRequest, sink?: Sink): Promise<WireAnswer> {
    this.#pool ??= this.#openPool();
    const { statusCode: status, headers, body } = await (await this.#pool).request(request);
    let text = '';
    // Read to the end in any case, or the connection stays pinned.
    for await (const chunk of body)
      if (status === 200 && sink) await sink(chunk);
      else if (text.length < 4096) text += String(chunk);
    return { status, headers, text };
  }

  /** To a sink that never waits, on a quick line; what a quick line does not take is asked for again by `ask`. */
  async askQuickly(request: WireRequest, sink: Sink): Promise<WireAnswer> {
    while (this.#busy >= this.#mostBusy) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    this.#busy += 1;
    const line = this.#lines.pop() ?? this.#newLine();
    try {
      const lines = Object.entries(request.headers).map(([name, value]) => `${name}: ${value}\r\n`);
      const taken = (chunk: Buffer) => {
        if (sink(chunk)) throw new Error('a sink of flowing bytes must not wait');
      };
      const head = `GET ${request.path} HTTP/1.1\r\n${lines.join('')}\r\n`;
      const headers = await line.get(head, taken, request.signal ?? undefined);
      return headers ? { status: 200, headers, text: '' } : await this.ask(request, sink);
    } finally {
      this.#busy -= 1;
      this.#lines.push(line);
      this.#waiting.shift()?.();
    }
  }
}

/** Whether the connection failed, not the disk or whatever else the sink writes to. */
export function isOfTheWire(error: unknown): boolean {
  if (error instanceof LineBroken) return true;
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  return code.startsWith('UND_ERR') || code.startsWith('HPE_') || /^E(CONN|PIPE|HOST|NET|TIMEDOUT|AI_)/.test(code);
}
