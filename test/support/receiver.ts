import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

interface Received {
  headers: IncomingHttpHeaders;
  body: string;
}

/** A receiver of webhooks on loopback, which answers as its test says. */
export interface Receiver extends AsyncDisposable {
  readonly url: string;
  readonly received: Received[];
}

export async function openReceiver(answer: (response: ServerResponse) => void): Promise<Receiver> {
  const received: Received[] = [];
  const server = createServer((request, response) => {
    response.on('error', () => undefined);
    void request
      .toArray()
      .then((chunks: Buffer[]) => {
        received.push({ headers: request.headers, body: Buffer.concat(chunks).toString() });
        answer(response);
      })
      .catch(() => undefined);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/hook`,
    received,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
