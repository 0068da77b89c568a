import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';

export interface Seen {
  method: string;
  /** `/bucket/key`, without the query. */
  path: string;
  query: string;
}

/** What happens to a request instead of being passed on. */
export type Fault =
  | { kind: 'status'; status: number }
  /** Passed on, done over there, and its answer lost. */
  | { kind: 'lose_answer' }
  /** Half of the answer's body, and then nothing more. */
  | { kind: 'cut_answer' }
  /** Half of the answer's body, and then silence on a connection that stays open. */
  | { kind: 'stall_answer' }
  /** The answer with one bit of its body turned round. */
  | { kind: 'bend_answer' }
  /** Half of what is sent, and then the connection is torn. */
  | { kind: 'cut_request' }
  /** Taken in, and never answered. */
  | { kind: 'hang' }
  /** Passed on when so much time is over. */
  | { kind: 'slow'; ms: number };

export interface HttpProxy extends AsyncDisposable {
  readonly url: string;
  /** Every request that came. */
  readonly seen: Seen[];
  /** Asked for each request; undefined lets it pass. */
  fault: (seen: Seen) => Fault | undefined;
}

/** Between us and the store: what networks do not do, statuses and lost answers. Signatures stay valid: the host is told on. */
export async function openHttpProxy(target: string): Promise<HttpProxy> {
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
    const on = request({ host: hostname, port, method: req.method, path: req.url, headers: req.headers, agent: false });
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
