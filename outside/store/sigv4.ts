import { hash } from 'node:crypto';

/** The sha256 of no bytes, as a GET is signed. */
export const emptySha256 = hash('sha256', '');

export interface SigningAccount {
  accessKey: string;
  secretKey: string;
  region: string;
  host: string;
}

/** HMAC-SHA-256 with a key that is used often: Node's own makes a key's object anew for each, which costs more than all the rest. */
function keyed(key: Buffer): (text: string) => Buffer {
  const padded = Buffer.alloc(64);
  (key.length > 64 ? hash('sha256', key, 'buffer') : key).copy(padded);
  const inner = padded.map((byte) => byte ^ 0x36);
  const outer = padded.map((byte) => byte ^ 0x5c);
  return (text) => {
    const first = hash('sha256', Buffer.concat([inner, Buffer.from(text)]), 'buffer');
    return hash('sha256', Buffer.concat([outer, first]), 'buffer');
  };
}
/** Stores allow for five to fifteen minutes. */
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
  #aheadMs = 0;
  #day = '';
  #hmac = keyed(Buffer.alloc(0));

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
    now = new Date(Date.now() + this.#aheadMs),
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
    const signature = this.#keyOf(day)(`AWS4-HMAC-SHA256\n${at}\n${scope}\n${digest}`).toString('hex');
    headers['authorization'] =
      `AWS4-HMAC-SHA256 Credential=${accessKey}/${scope}, SignedHeaders=${signed}, Signature=${signature}`;
    return headers;
  }

  /** How far the store's clock is taken to be ahead of ours. */
  get aheadMs(): number {
    return this.#aheadMs;
  }

  /** It refused, and this is its time: whether a request that was signed when it was `beforeMs` ahead was refused for that. */
  follow(time: Date | undefined, beforeMs: number): boolean {
    const aheadMs = (time?.getTime() ?? Number.NaN) - Date.now();
    if (Math.abs(aheadMs - this.#aheadMs) > tooFarMs) this.#aheadMs = aheadMs;
    return Math.abs(this.#aheadMs - beforeMs) > tooFarMs;
  }

  #keyOf(day: string): (text: string) => Buffer {
    if (day !== this.#day) {
      const { secretKey, region } = this.#account;
      const secret = Buffer.from(`AWS4${secretKey}`);
      const key = [day, region, 's3', 'aws4_request'].reduce((before, part) => keyed(before)(part), secret as Buffer);
      this.#hmac = keyed(key);
      this.#day = day;
    }
    return this.#hmac;
  }
}
