import { connect as connectTcp, isIP, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';

/** All connections read into this one buffer: a sink has used up what was read before the next read begins. */
const buffer = Buffer.allocUnsafeSlow(256 * 1024);
const mostHead = 16 * 1024;

export type Headers = Readonly<Record<string, string>>;
interface Pending {
  sink: (chunk: Buffer) => void;
  /** With the headers once the whole body was taken; with undefined if a quick line does not take such an answer. */
  resolve: (headers: Headers | undefined) => void;
  reject: (error: unknown) => void;
}

/** The connection ended or fell silent. */
export class LineBroken extends Error {
  override readonly name = 'LineBroken';
}

/**
 * One kept connection for the one answer that is worth a path of its own: 200 with a length, handed to a sink that never
 * waits. It needs no memory for what passes, and a fraction of a general client's CPU (decision 0061). Any other answer
 * ends the connection, and the general client asks again.
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
        // A server name (SNI) must not be an address.
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

  /** Send a request without a body. A connection that died while it was idle is opened anew, once. */
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
    socket.setTimeout(this.#silenceMs, () => ended(new LineBroken('the connection fell silent')));
    socket.on('error', (error) => ended(new LineBroken(error.message, { cause: error })));
    socket.on('end', () => ended(new LineBroken('the peer ended the connection')));
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
    // These bytes answer no request of ours.
    if (!this.#pending) return this.#drop();
    const body = this.#headers ? chunk : this.#headIn(chunk);
    if (!body || !this.#headers) return;
    if (body.length > this.#left) return this.#fail(new LineBroken('the peer sent more bytes than it announced'));
    this.#left -= body.length;
    try {
      if (body.length > 0) this.#pending.sink(body);
    } catch (error) {
      return this.#fail(error);
    }
    if (this.#left === 0) this.#settle(this.#headers, this.#headers['connection']?.toLowerCase() !== 'close');
  }

  /** The part of this chunk that is body, once the head is complete and acceptable. */
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

/** Undefined for a status other than 200, a malformed line, or a length given twice. */
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
