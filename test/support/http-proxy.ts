import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';

export interface Seen {
  method: string;
  /** `/bucket/key`, without the query. */
  path: string;
  query: string;
}

/** What happens to a request. */
export type Fault =
  | { kind: 'status'; status: number }
  /** The request is executed, and its answer is lost. */
  | { kind: 'lose_answer' }
  /** The connection ends after half of the answer's body. */
  | { kind: 'cut_answer' }
  /** The connection falls silent after half of the answer's body. */
  | { kind: 'stall_answer' }
  /** One bit of the answer's body is flipped. */
  | { kind: 'bend_answer' }
  /** The connection breaks after half of the request's body. */
  | { kind: 'cut_request' }
  /** The request is never answered. */
  | { kind: 'hang' }
  /** The request is passed on after a delay. */
  | { kind: 'slow'; ms: number };

export interface HttpProxy extends AsyncDisposable {
  readonly url: string;
  /** Every request so far. */
  readonly seen: Seen[];
  /** Called for each request; undefined lets it pass. */
  fault: (seen: Seen) => Fault | undefined;
}

/**
 * A proxy for faults that a network does not have: statuses and lost answers. It keeps the signed Host, and adds `more`
 * headers to every request.
 */
export async function openHttpProxy(target: string, more: Readonly<Record<string, string>> = {}): Promise<HttpProxy> {
  const { hostname, port } = new URL(target);
  const server = createServer((req, res) => void pass(req, res));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const proxy: HttpProxy = {
    url: `http://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}`,
    seen: [],
    fault: () => undefined,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };

  async function pass(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const url = new URL(req.url ?? '/', 'http://proxy');
    const seen = { method: req.method ?? '', path: decodeURIComponent(url.pathname), query: url.search };
    proxy.seen.push(seen);
    const fault = proxy.fault(seen);
    if (fault?.kind === 'status') {
      req.resume();
      await once(req, 'end');
      res.writeHead(fault.status, { 'content-type': 'application/xml' });
      res.end(`<Error><Code>${codeOf(fault.status)}</Code><Message>by the proxy</Message></Error>`);
      return;
    }
    if (fault?.kind === 'hang') return void req.resume();
    if (fault?.kind === 'slow') await pause(fault.ms);
    const on = request({
      host: hostname,
      port,
      method: req.method,
      path: req.url,
      headers: { ...req.headers, ...more },
      agent: false,
    });
    on.on('error', () => res.destroy());
    on.on('response', (answer) => {
      if (fault?.kind === 'lose_answer') {
        answer.resume();
        answer.on('end', () => res.destroy());
        return;
      }
      res.writeHead(answer.statusCode ?? 502, answer.headers);
      if (fault?.kind === 'cut_answer') {
        answer.once('data', (chunk: Buffer) => {
          res.write(chunk.subarray(0, Math.ceil(chunk.length / 2)), () => res.destroy());
          answer.destroy();
        });
        return;
      }
      if (fault?.kind === 'stall_answer') {
        answer.once('data', (chunk: Buffer) => {
          res.write(chunk.subarray(0, Math.ceil(chunk.length / 2)));
          answer.destroy();
        });
        return;
      }
      if (fault?.kind === 'bend_answer')
        answer.once('data', (chunk: Buffer) => {
          chunk[0] = (chunk[0] ?? 0) ^ 1;
        });
      answer.pipe(res);
    });
    res.on('close', () => on.destroy());
    if (fault?.kind === 'cut_request')
      req.once('data', (chunk: Buffer) => {
        on.write(chunk.subarray(0, Math.ceil(chunk.length / 2)));
        req.destroy();
      });
    else req.pipe(on);
  }

  return proxy;
}

const codeOf = (status: number) =>
  ({ 403: 'AccessDenied', 409: 'ConditionalRequestConflict', 412: 'PreconditionFailed', 503: 'SlowDown' })[status] ??
  'InternalError';
