import { HotcellError, messageOf } from '@hotcell/contract/errors.ts';
import { emptySha256, encodePath, encodeQuery, Signer } from './sigv4.ts';
import type { StoreAccess } from './store-client.ts';
import type { ObjectLock, PutOptions } from './store-put.ts';
import type { FoundObject } from './store-list.ts';
import { isOfTheWire, type Sink, Wire, type WireAnswer, type WireRequest, type WireSettings } from './wire.ts';

export type BytesSettings = StoreAccess & WireSettings;

interface ContentRequest {
  method: 'GET' | 'PUT' | 'HEAD';
  bucket: string;
  key: string;
  versionId?: string | undefined;
  headers?: Readonly<Record<string, string>>;
  body?: Uint8Array;
  bodySha256?: string;
  signal?: AbortSignal | undefined;
}

/**
 * The quick way for the bytes of contents: a fifth of what the SDK costs for each request (decision 0060). It has only
 * what a snapshot needs; everything else goes through `Store`.
 */
export class StoreBytes implements AsyncDisposable {
  readonly #signer: Signer;
  readonly #wire: Wire;

  constructor(settings: BytesSettings) {
    this.#signer = new Signer({ ...settings, host: new URL(settings.endpoint).host });
    this.#wire = new Wire(settings);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#wire[Symbol.asyncDispose]();
  }

  /**
   * Hand an object's bytes to the sink; undefined if there is no such object or version. Nothing is retried here. To a
   * sink that never waits (`flowing`) they come at a fraction of the cost.
   */
  async read(
    bucket: string,
    key: string,
    sink: Sink,
    options: { versionId?: string | undefined; signal?: AbortSignal | undefined; flowing?: boolean } = {},
  ): Promise<FoundObject | undefined> {
    const { flowing = false, ...rest } = options;
    return found(await this.#ask({ method: 'GET', bucket, key, ...rest }, sink, flowing), 'get', bucket, key);
  }

  async head(bucket: string, key: string, versionId?: string): Promise<FoundObject | undefined> {
    return found(await this.#ask({ method: 'HEAD', bucket, key, versionId }), 'head', bucket, key);
  }

  /**
   * Put bytes whose sha256 is known. It is part of the signature, so the store itself refuses other bytes. With
   * `ifAbsent`, false means that something was there.
   */
  async put(
    bucket: string,
    key: string,
    body: Uint8Array,
    bodySha256: string,
    {
      ifAbsent = false,
      lock,
      signal,
    }: Pick<PutOptions, 'ifAbsent' | 'lock'> & { signal?: AbortSignal | undefined } = {},
  ): Promise<boolean> {
    const headers = { ...(ifAbsent && { 'if-none-match': '*' }), ...(lock && lockHeaders(lock, bodySha256)) };
    let answer: WireAnswer;
    try {
      answer = await this.#ask({ method: 'PUT', bucket, key, body, bodySha256, headers, signal });
    } catch (error) {
      signal?.throwIfAborted();
      // A store may answer that something is there, and hang up, before it has read a large body: that answer is lost.
      if (ifAbsent && (await this.head(bucket, key))) return false;
      throw error;
    }
    if (ifAbsent && answer.status === 412) {
      if (await this.head(bucket, key)) return false;
      // Some stores say so of a key whose object was deleted and whose versions are kept, though there is no object.
      return this.put(bucket, key, body, bodySha256, { signal, lock });
    }
    found(answer, 'put', bucket, key);
    return true;
  }

  async #ask(asked: ContentRequest, sink?: Sink, flowing = false): Promise<WireAnswer> {
    const send = () => {
      const request = this.#signed(asked);
      return sink && flowing ? this.#wire.askQuickly(request, sink) : this.#wire.ask(request, sink);
    };
    try {
      const before = this.#signer.aheadMs;
      const answer = await send();
      // The store refuses a request that is minutes early or late. Whichever clock is wrong, requests then carry its time.
      const isLate = answer.status === 403 && this.#signer.follow(dateOf(answer.headers['date']), before);
      return isLate ? await send() : answer;
    } catch (error) {
      asked.signal?.throwIfAborted();
      if (error instanceof HotcellError || !isOfTheWire(error)) throw error;
      throw new HotcellError(
        'store_unavailable',
        `The store broke off the ${asked.method} of ${asked.bucket}/${asked.key}: ${messageOf(error)}.`,
        { cause: error },
      );
    }
  }

  #signed(asked: ContentRequest): WireRequest {
    const { method, bucket, key, versionId, headers, body = null, bodySha256 = emptySha256, signal = null } = asked;
    const path = encodePath(bucket, key);
    const query = versionId ? encodeQuery({ versionId }) : '';
    const signed = this.#signer.sign(method, path, query, bodySha256, headers);
    return { method, path: query ? `${path}?${query}` : path, headers: signed, body, signal };
  }
}

function found(
  { status, headers, text }: WireAnswer,
  verb: string,
  bucket: string,
  key: string,
): FoundObject | undefined {
  if (status === 200)
    return {
      size: Number(headers['content-length'] ?? 0),
      etag: textOf(headers['etag']) ?? '',
      versionId: textOf(headers['x-amz-version-id']),
      modified: dateOf(headers['last-modified']),
    };
  if (status === 404 && verb !== 'put' && !text.includes('NoSuchBucket')) return undefined;
  const said = `HTTP ${status} ${/<Code>([^<]{1,64})/.exec(text)?.[1] ?? ''}`.trim();
  if (status === 403)
    throw new HotcellError('forbidden', `The store does not let this process ${verb} ${bucket}/${key} (${said}).`);
  // A version id that this store never gave is as gone as one that was deleted.
  if (status === 400 && verb !== 'put' && /InvalidVersionId|NoSuchVersion|InvalidArgument/.test(text)) return undefined;
  throw new HotcellError('store_unavailable', `The store could not ${verb} ${bucket}/${key}: ${said}.`);
}

/** A store takes a lock only with a sum of the body. */
const lockHeaders = ({ mode, until }: ObjectLock, bodySha256: string): Record<string, string> => ({
  'x-amz-object-lock-mode': mode,
  'x-amz-object-lock-retain-until-date': until.toISOString(),
  'x-amz-checksum-sha256': Buffer.from(bodySha256, 'hex').toString('base64'),
});

const textOf = (value: string | string[] | undefined) => (typeof value === 'string' ? value : undefined);
const dateOf = (value: string | string[] | undefined) => (typeof value === 'string' ? new Date(value) : undefined);
