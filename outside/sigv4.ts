import { createHash, createHmac } from 'node:crypto';

/** The sha256 of no bytes, as a GET is signed. */
export const emptySha256 = createHash('sha256').digest('hex');

export interface SigningAccount {
  accessKey: string;
  secretKey: string;
  region: string;
  host: string;
}

const hmac = (key: Buffer | string, text: string) => createHmac('sha256', key).update(text).digest();
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
  #day = '';
  #key = Buffer.alloc(0);

  constructor(account: SigningAccount) {
    this.#account = account;
  }

  /** The headers to send: those given and the signature over all of them. `path` and `query` are encoded already. */
  sign(
    method: string,
    path: string,
    query: string,
    bodySha256: string,
    extra: Readonly<Record<string, string>> = {},
    now = new Date(),
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
    const digest = createHash('sha256').update(request).digest('hex');
    const signature = hmac(this.#keyOf(day), `AWS4-HMAC-SHA256\n${at}\n${scope}\n${digest}`).toString('hex');
    headers['authorization'] =
      `AWS4-HMAC-SHA256 Credential=${accessKey}/${scope}, SignedHeaders=${signed}, Signature=${signature}`;
    return headers;
  }

  #keyOf(day: string): Buffer {
    if (day !== this.#day) {
      const { secretKey, region } = this.#account;
      this.#key = hmac(hmac(hmac(hmac(`AWS4${secretKey}`, day), region), 's3'), 'aws4_request');
      this.#day = day;
    }
    return this.#key;
  }
}
