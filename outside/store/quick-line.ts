import { connect as connectTcp, isIP, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';

/** What a connection reads into. All of them share it: what was read is used up before anybody reads again. */
const buffer = Buffer.allocUnsafeSlow(256 * 1024);
const mostHead = 16 * 1024;

export type Headers = Readonly<Record<string, string>>;
interface Pending {
  sink: (chunk: Buffer) => void;
  /** The headers, when all of the body was taken; undefined when the answer is none that is taken here. */
  resolve: (headers: Headers | undefined) => void;
  reject: (error: unknown) => void;
}

/** The connection ended or fell silent. */
export class LineBroken extends Error {
  override readonly name = 'LineBroken';
}

/**
 * One kept connection for the one answer that is worth a way of its own: 200 with a length, handed to somebody who never
 * waits. It costs no memory for what passes and a fraction of the time of a general client. Whatever else comes ends the
 * connection, and is asked for again by the general client.
 */
export class QuickLine {
  readonly #open: () => Socket;
  readonly #silenceMs: number;
  #socket: Socket | undefined;
  #pending: Pending | undefined;
  #head = '';
  #headers: Headers | undefined;
  #left = 0;

  constructor(url: URL, silenceMs: number) {
    this.#silenceMs = silenceMs;
    const secure = url.protocol === 'https:';
    const port = Number(url.port || (secure ? 443 : 80));
    const host = url.hostname.replace(/^\[|\]$/g, '');
    this.#open = () => {
      if (secure) {
        // An address is no name that a certificate could be asked for by.
        const socket = connectTls({ host, port, ...(isIP(host) ? {} : { servername: host }) });
        return socket.on('data', (chunk: Buffer) => this.#taken(chunk));
      }
      const callback = (bytes: number) => {
        this.#taken(buffer.subarray(0, bytes));
        return true;
      };
      return connectTcp({ host, port, onread: { buffer, callback } });
    };
  }

  /** Send a request that has no body. A connection that had died while nobody used it is opened anew, once. */
  async get(request: string, sink: (chunk: Buffer) => void, signal?: AbortSignal): Promise<Headers | undefined> {
    const kept = this.#socket !== undefined;
    try {
      return await this.#ask(request, sink, signal);
    } catch (error) {
      if (!kept || !(error instanceof LineBroken) || this.#head !== '' || this.#headers || signal?.aborted) throw error;
      return await this.#ask(request, sink, signal);
    }
  }

  close(): void {
    this.#socket?.destroy();
  }

  async #ask(request: string, sink: (chunk: Buffer) => void, signal?: AbortSignal): Promise<Headers | undefined> {
    signal?.throwIfAborted();
    const { promise, resolve, reject } = Promise.withResolvers<Headers | undefined>();
    this.#head = '';
    this.#headers = undefined;
    this.#pending = { sink, resolve, reject };
    const stop = () => this.#fail(signal?.reason);
    signal?.addEventListener('abort', stop, { once: true });
    this.#socket ??= this.#connect();
    this.#socket.ref();
    this.#socket.write(request, 'latin1');
    try {
      return await promise;
    } finally {
      signal?.removeEventListener('abort', stop);
      this.#socket?.unref();
    }
  }

  #connect(): Socket {
    const socket = this.#open();
    socket.setNoDelay(true);
    const ended = (error: Error) => {
      if (this.#socket === socket) this.#fail(error);
    };
    socket.setTimeout(this.#silenceMs, () => ended(new LineBroken('it fell silent')));
    socket.on('error', (error) => ended(new LineBroken(error.message, { cause: error })));
    socket.on('end', () => ended(new LineBroken('it ended the connection')));
    socket.on('close', () => ended(new LineBroken('the connection was closed')));
    return socket;
  }

  #drop(): void {
    const socket = this.#socket;
    this.#socket = undefined;
    socket?.destroy();
  }

  #fail(error: unknown): void {
    const pending = this.#pending;
    this.#pending = undefined;
    this.#drop();
    pending?.reject(error);
  }

  #settle(headers: Headers | undefined, keep: boolean): void {
    const pending = this.#pending;
    this.#pending = undefined;
    if (!keep) this.#drop();
    pending?.resolve(headers);
  }

  #taken(chunk: Buffer): void {
    // Nobody asked: whatever it is, it belongs to no answer of ours.
    if (!this.#pending) return this.#drop();
    const body = this.#headers ? chunk : this.#headIn(chunk);
    if (!body || !this.#headers) return;
    if (body.length > this.#left) return this.#fail(new LineBroken('it sent more than it had announced'));
    this.#left -= body.length;
    try {
      if (body.length > 0) this.#pending.sink(body);
    } catch (error) {
      return this.#fail(error);
    }
    if (this.#left === 0) this.#settle(this.#headers, this.#headers['connection']?.toLowerCase() !== 'close');
  }

  /** What of this chunk is body, once the head is there and is one that we take. */
  #headIn(chunk: Buffer): Buffer | undefined {
    const before = this.#head.length;
    this.#head += chunk.toString('latin1');
    const end = this.#head.indexOf('\r\n\r\n');
    if (end < 0) {
      if (this.#head.length > mostHead) this.#settle(undefined, false);
      return undefined;
    }
    const headers = headersOf(this.#head.slice(0, end));
    const length = headers?.['content-length'] ?? '';
    if (!headers || !/^\d{1,15}$/.test(length) || 'transfer-encoding' in headers) {
      this.#settle(undefined, false);
      return undefined;
    }
    this.#headers = headers;
    this.#left = Number(length);
    return chunk.subarray(end + 4 - before);
  }
}

/** Undefined for any other status than 200 and for whatever is said twice or not as it should be. */
function headersOf(head: string): Headers | undefined {
  const [status = '', ...lines] = head.split('\r\n');
  if (!status.startsWith('HTTP/1.1 200')) return undefined;
  const headers: Record<string, string> = Object.create(null);
  for (const line of lines) {
    const colon = line.indexOf(':');
    const name = line.slice(0, colon).toLowerCase();
    if (colon < 1 || (name === 'content-length' && name in headers)) return undefined;
    headers[name] = line.slice(colon + 1).trim();
  }
  return headers;
}
