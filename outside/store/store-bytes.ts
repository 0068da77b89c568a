import { HotcellError, messageOf } from '@hotcell/contract/errors.ts';
import type { Pool } from 'undici';
import { LineBroken, QuickLine } from './quick-line.ts';
import { emptySha256, encodePath, encodeQuery, Signer } from './sigv4.ts';

export interface BytesSettings {
  endpoint: string;
  region: string;
  accessKey: string;
  secretKey: string;
  /** How many requests may be under way at once. */
  sockets?: number;
  /** A store that says nothing for this long is taken for hung: the request fails instead of waiting for ever. */
  silenceMs?: number;
}

/** What came before the bytes. */
export interface Head {
  size: number;
  etag: string | undefined;
  versionId: string | undefined;
  modified: Date | undefined;
}

/** Takes the bytes as they come. While the promise it answers is open, the store is not read on. */
export type Sink = (chunk: Buffer) => Promise<void> | undefined;

interface Asked {
  method: 'GET' | 'PUT' | 'HEAD';
  bucket: string;
  key: string;
  versionId?: string | undefined;
  headers?: Readonly<Record<string, string>>;
  body?: Uint8Array;
  bodySha256?: string;
  signal?: AbortSignal | undefined;
}
interface Answer extends Head {
  status: number;
  /** The store's time. */
  date: Date | undefined;
  text: string;
}

/**
 * The quick way for bytes of content: signed requests on kept connections, a fifth of what the SDK costs per request.
 * Only what a snapshot needs is here; everything else goes through the store's own door.
 */
export class StoreBytes implements AsyncDisposable {
  readonly #openPool: () => Promise<Pool>;
  #pool: Promise<Pool> | undefined;
  readonly #signer: Signer;
  readonly #newLine: () => QuickLine;
  /** Kept connections that nobody uses now, and who waits for one. */
  readonly #lines: QuickLine[] = [];
  readonly #waiting: (() => void)[] = [];
  readonly #mostBusy: number;
  #busy = 0;

  constructor(settings: BytesSettings) {
    const url = new URL(settings.endpoint);
    const silence = settings.silenceMs ?? 30_000;
    this.#newLine = () => new QuickLine(url, silence);
    this.#mostBusy = settings.sockets ?? 64;
    this.#openPool = async () => {
      // Threads that only fetch never need it: it costs them more memory than all that they hold.
      const { Pool } = await import('undici');
      return new Pool(url.origin, {
        connections: settings.sockets ?? 64,
        pipelining: 1,
        connectTimeout: 5_000,
        headersTimeout: silence,
        bodyTimeout: silence,
      });
    };
    this.#signer = new Signer({ ...settings, host: url.host });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const line of this.#lines) line.close();
    await (await this.#pool)?.destroy();
  }

  /**
   * Hand an object's bytes to the sink; undefined if there is no such object or version. Nothing is tried twice here. To
   * a sink that never waits (`flowing`) they come at a fraction of the cost.
   */
  async read(
    bucket: string,
    key: string,
    sink: Sink,
    options: { versionId?: string | undefined; signal?: AbortSignal | undefined; flowing?: boolean } = {},
  ): Promise<Head | undefined> {
    const { flowing, ...rest } = options;
    const asked: Asked = { method: 'GET', bucket, key, ...rest };
    const answer = await this.#told(asked, () =>
      flowing ? this.#askQuickly(asked, sink) : this.#askForStream(asked, sink),
    );
    return this.#found(answer, 'get', bucket, key);
  }

  async head(bucket: string, key: string, versionId?: string): Promise<Head | undefined> {
    const asked: Asked = { method: 'HEAD', bucket, key, versionId };
    const answer = await this.#told(asked, () => this.#ask(asked));
    return this.#found(answer, 'head', bucket, key);
  }

  /**
   * Put bytes whose sha256 is known. It is part of the signature, so the store itself refuses other bytes. With
   * `ifAbsent` the answer false says that something was there.
   */
  async put(
    bucket: string,
    key: string,
    body: Uint8Array,
    sha256Hex: string,
    options: { ifAbsent?: boolean; signal?: AbortSignal | undefined } = {},
  ): Promise<boolean> {
    const asked: Asked = {
      method: 'PUT',
      bucket,
      key,
      body,
      bodySha256: sha256Hex,
      headers: options.ifAbsent ? { 'if-none-match': '*' } : {},
      signal: options.signal,
    };
    let answer: Answer;
    try {
      answer = await this.#told(asked, () => this.#ask(asked));
    } catch (error) {
      options.signal?.throwIfAborted();
      // A store may say that something is there, and hang up, before it has read a large body: then nobody hears it.
      if (options.ifAbsent && (await this.head(bucket, key))) return false;
      throw error;
    }
    if (options.ifAbsent && answer.status === 412) {
      if (await this.head(bucket, key)) return false;
      // Some stores say so of a place whose object was deleted and whose versions are kept: nothing is there to be seen.
      return this.put(bucket, key, body, sha256Hex, { signal: options.signal });
    }
    this.#found(answer, 'put', bucket, key);
    return true;
  }

  #found(answer: Answer, verb: string, bucket: string, key: string): Head | undefined {
    if (answer.status === 200) return answer;
    if (answer.status === 404 && verb !== 'put' && !answer.text.includes('NoSuchBucket')) return undefined;
    const said = `HTTP ${answer.status} ${/<Code>([^<]{1,64})/.exec(answer.text)?.[1] ?? ''}`.trim();
    if (answer.status === 403)
      throw new HotcellError('forbidden', `the store does not let this process ${verb} ${bucket}/${key} (${said})`);
    // A version id that is none of this store's is as gone as one that was deleted.
    if (answer.status === 400 && verb !== 'put' && /InvalidVersionId|NoSuchVersion|InvalidArgument/.test(answer.text))
      return undefined;
    throw new HotcellError('store_unavailable', `the store could not ${verb} ${bucket}/${key}: ${said}`);
  }

  /** What the connection said, as one of our errors. */
  async #told(asked: Asked, ask: () => Promise<Answer>): Promise<Answer> {
    try {
      const before = this.#signer.aheadMs;
      const answer = await ask();
      // It refuses who is early or late by minutes. Whose clock is wrong is not for us to say: requests carry its time.
      return answer.status === 403 && this.#signer.follow(answer.date, before) ? await ask() : answer;
    } catch (error) {
      asked.signal?.throwIfAborted();
      if (error instanceof HotcellError || !isOfTheWire(error)) throw error;
      throw new HotcellError(
        'store_unavailable',
        `the store broke off the ${asked.method} of ${asked.bucket}/${asked.key}: ${messageOf(error)}`,
        { cause: error },
      );
    }
  }

  #request(asked: Asked): {
    path: string;
    method: 'GET' | 'PUT' | 'HEAD';
    headers: Record<string, string>;
    body: Uint8Array | null;
  } {
    const path = encodePath(asked.bucket, asked.key);
    const query = asked.versionId ? encodeQuery({ versionId: asked.versionId }) : '';
    const headers = this.#signer.sign(asked.method, path, query, asked.bodySha256 ?? emptySha256, asked.headers);
    return { path: query ? `${path}?${query}` : path, method: asked.method, headers, body: asked.body ?? null };
  }

  /** On a connection of the quick kind; what it does not take (an error has no fixed form) the general client gets. */
  async #askQuickly(asked: Asked, sink: Sink): Promise<Answer> {
    while (this.#busy >= this.#mostBusy) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    this.#busy += 1;
    const line = this.#lines.pop() ?? this.#newLine();
    try {
      const { path, headers } = this.#request(asked);
      const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
      const taken = unwaited(sink);
      const head = await line.get(`GET ${path} HTTP/1.1\r\n${lines.join('')}\r\n`, taken, asked.signal);
      return head ? answerOf(200, head, '') : await this.#ask(asked, taken);
    } finally {
      this.#busy -= 1;
      this.#lines.push(line);
      this.#waiting.shift()?.();
    }
  }

  async #askForStream(asked: Asked, sink: Sink): Promise<Answer> {
    this.#pool ??= this.#openPool();
    const { statusCode, headers, body } = await (await this.#pool).request({
      ...this.#request(asked),
      signal: asked.signal ?? null,
    });
    if (statusCode !== 200) return answerOf(statusCode, headers, await body.text());
    for await (const chunk of body) await sink(chunk);
    return answerOf(statusCode, headers, '');
  }

  async #ask(asked: Asked, sink?: (chunk: Buffer) => void): Promise<Answer> {
    asked.signal?.throwIfAborted();
    const { promise, resolve, reject } = Promise.withResolvers<Answer>();
    let answer = answerOf(0, {}, '');
    let stop: (() => void) | undefined;
    this.#pool ??= this.#openPool();
    (await this.#pool).dispatch(this.#request(asked), {
      onRequestStart(controller) {
        stop = () => controller.abort(new Error('stopped'));
        asked.signal?.addEventListener('abort', stop, { once: true });
      },
      onResponseStart(_controller, status, head) {
        answer = answerOf(status, head, '');
      },
      onResponseData(controller, chunk) {
        if (answer.status !== 200 || !sink) {
          if (answer.text.length < 4096) answer.text += chunk.toString('utf8');
          return;
        }
        try {
          sink(chunk);
        } catch (error) {
          controller.abort(asError(error));
        }
      },
      onResponseEnd: () => resolve(answer),
      onResponseError: (_controller, error) => reject(error),
    });
    try {
      return await promise;
    } finally {
      if (stop) asked.signal?.removeEventListener('abort', stop);
    }
  }
}

function answerOf(status: number, head: Readonly<Record<string, string | string[] | undefined>>, text: string): Answer {
  return {
    status,
    text,
    size: Number(head['content-length'] ?? 0),
    etag: textOf(head['etag']),
    versionId: textOf(head['x-amz-version-id']),
    modified: dateOf(textOf(head['last-modified'])),
    date: dateOf(textOf(head['date'])),
  };
}

/** Whoever may have to wait reads by the stream: here there is nothing that could hold the store up. */
const unwaited = (sink: Sink) => (chunk: Buffer) => {
  if (sink(chunk)) throw new Error('what flows is taken without waiting');
};

const textOf = (value: string | string[] | undefined) => (typeof value === 'string' ? value : undefined);
const dateOf = (value: string | undefined) => (value === undefined ? undefined : new Date(value));
const asError = (error: unknown) => (error instanceof Error ? error : new Error(String(error)));

/** Whether the connection failed, not the disk or whatever else the sink writes to. */
function isOfTheWire(error: unknown): boolean {
  if (error instanceof LineBroken) return true;
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  return code.startsWith('UND_ERR') || code.startsWith('HPE_') || /^E(CONN|PIPE|HOST|NET|TIMEDOUT|AI_)/.test(code);
}
