import { createHmac, createSecretKey, hash, type KeyObject } from 'node:crypto';

/** The sha256 of no bytes, as a GET is signed. */
export const emptySha256 = hash('sha256', '');

export interface SigningAccount {
  accessKey: string;
  secretKey: string;
  region: string;
  host: string;
}

const hmac = (key: KeyObject | Buffer, text: string) => createHmac('sha256', key).update(text);

/** Stores accept clocks that differ by five to fifteen minutes. */
const tooFarMs = 4 * 60_000;

const encode = (text: string) =>
  encodeURIComponent(text).replace(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`);

export function encodePath(bucket: string, key: string): string {
  return `/${bucket}/${key.split('/').map(encode).join('/')}`;
}
export function encodeQuery(query: Readonly<Record<string, string>>): string {
  return Object.keys(query)
    .toSorted()
    .map((name) => `${encode(name)}=${encode(query[name] ?? '')}`)
    .join('&');
}

/** AWS Signature Version 4 for single requests to S3. The day's key is derived once a day, not once a request. */
export class Signer {
  readonly #account: SigningAccount;
  /** By how much the store's clock is assumed to be ahead of ours. */
  aheadMs = 0;
  #day = '';
  #dayKey: KeyObject | undefined;

  constructor(account: SigningAccount) {
    this.#account = account;
  }

  /** The headers to send: those given and a signature over all of them. `path` and `query` are already encoded. */
  sign(
    method: string,
    path: string,
    query: string,
    bodySha256: string,
    extra: Readonly<Record<string, string>> = {},
    now = new Date(Date.now() + this.aheadMs),
  ): Record<string, string> {
    const { accessKey, region, host } = this.#account;
    const at = now.toISOString().replace(/[-:]|\.\d{3}/g, '');
    const day = at.slice(0, 8);
    const headers: Record<string, string> = { ...extra, host, 'x-amz-content-sha256': bodySha256, 'x-amz-date': at };
    const names = Object.keys(headers).toSorted();
    const signed = names.join(';');
    const lines = names.map((name) => `${name}:${headers[name]}\n`).join('');
    const request = `${method}\n${path}\n${query}\n${lines}\n${signed}\n${bodySha256}`;
    const scope = `${day}/${region}/s3/aws4_request`;
    const digest = hash('sha256', request);
    const signature = hmac(this.#keyOf(day), `AWS4-HMAC-SHA256\n${at}\n${scope}\n${digest}`).digest('hex');
    headers['authorization'] =
      `AWS4-HMAC-SHA256 Credential=${accessKey}/${scope}, SignedHeaders=${signed}, Signature=${signature}`;
    return headers;
  }

  /** Given the store's time in a refusal: whether the clock explains why it refused a request signed as `beforeMs` ahead. */
  follow(time: Date | undefined, beforeMs: number): boolean {
    const aheadMs = (time?.getTime() ?? Number.NaN) - Date.now();
    if (Math.abs(aheadMs - this.aheadMs) > tooFarMs) this.aheadMs = aheadMs;
    return Math.abs(this.aheadMs - beforeMs) > tooFarMs;
  }

  /** Kept as a key object: handing the bytes over each time would cost more than the rest of a signature. */
  #keyOf(day: string): KeyObject {
    if (!this.#dayKey || day !== this.#day) {
      const { secretKey, region } = this.#account;
      let key = Buffer.from(`AWS4${secretKey}`);
      for (const part of [day, region, 's3', 'aws4_request']) key = hmac(key, part).digest();
      this.#dayKey = createSecretKey(key);
      this.#day = day;
    }
    return this.#dayKey;
  }
}
