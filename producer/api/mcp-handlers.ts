import { Readable } from 'node:stream';
import type { ReadableStream as WebStream } from 'node:stream/web';
import { eventStream } from '@hotcell/contract/api/route.ts';
import { HotcellError } from '@hotcell/contract/errors.ts';
import { openEndpoint } from '@hotcell/mcp/http-endpoint.ts';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { OwnApi } from '../tools/own-api.ts';
import { ToldCell } from '../tools/told-cell.ts';
import type { Producer } from '../producer.ts';
import type { Handlers } from './register-routes.ts';
import { releaseBody } from './take-bodies.ts';

export function mcpHandlers(producer: Producer) {
  const cell = new ToldCell(producer);
  const endpoint = openEndpoint({
    servedFor: async ({ url, headers }) => ({
      api: new OwnApi(new URL(url).origin, keyIn(headers)),
      cell: await cell.text(),
    }),
    failed: (error) => producer.log.info({ err: error }, 'a message of MCP was refused'),
  });
  return {
    async callMcp({ body, request, reply }) {
      refuseForeignPage(request.headers.origin);
      const message = webRequest(request, reply);
      // The requests that its tool makes take room of their own: held here meanwhile, they would wait for each other.
      releaseBody(request);
      const answer = await endpoint(message, body);
      return await passOn(reply, answer);
    },
  } satisfies Partial<Handlers>;
}

function keyIn(headers: Headers): Record<string, string> {
  const known = ['authorization', 'hotcell-tenant'] as const;
  return Object.fromEntries(known.flatMap((name) => (headers.has(name) ? [[name, headers.get(name) ?? '']] : [])));
}

const thisMachine = new Set(['localhost', '127.0.0.1', '[::1]']);

/** A page that a browser shows may reach addresses that its author can't: by a name that it points to this machine. */
function refuseForeignPage(origin: string | undefined): void {
  if (origin === undefined) return;
  if (URL.canParse(origin) && thisMachine.has(new URL(origin).hostname)) return;
  throw new HotcellError('forbidden', `A page of ${origin} may not speak MCP here. Use a client that is no page.`);
}

/** Its address is the one at which this process was reached, which is where its own API answers. */
function webRequest({ raw, headers }: FastifyRequest, reply: FastifyReply): Request {
  const gone = new AbortController();
  reply.raw.once('close', () => gone.abort());
  const values = Object.entries(headers).flatMap(([name, value]) =>
    [value ?? []].flat().map((one): [string, string] => [name, one]),
  );
  const { localAddress = '127.0.0.1', localPort } = raw.socket;
  const plain = localAddress.replace(/^::ffff:/, '');
  const host = plain.includes(':') ? `[${plain}]` : plain;
  return new Request(`http://${host}:${localPort}/mcp`, { method: 'POST', headers: values, signal: gone.signal });
}

async function passOn(reply: FastifyReply, answer: Response): Promise<FastifyReply> {
  const type = answer.headers.get('content-type');
  reply.code(answer.status);
  if (type) reply.type(type);
  if (type?.startsWith(eventStream) && answer.body)
    return reply.header('x-accel-buffering', 'no').send(Readable.fromWeb(answer.body as WebStream<Uint8Array>));
  return reply.send(await answer.text());
}
