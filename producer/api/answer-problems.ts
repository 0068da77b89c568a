import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Problem } from '@hotcell/contract/api/problem.ts';
import { problemJson } from '@hotcell/contract/api/route.ts';
import { HotcellError } from '@hotcell/contract/errors.ts';
import type { Logger } from '@hotcell/outside/process/log.ts';
import type { FastifyInstance, FastifyReply } from 'fastify';
import type { Producer } from '../producer.ts';
import { problemOf } from './problem-of.ts';

export function answerProblems(app: FastifyInstance, producer: Pick<Producer, 'log'>): void {
  app.setErrorHandler(async (error, request, reply) => {
    const problem = problemOf(error, request.id);
    if (problem.status >= 500)
      producer.log.error({ err: error, requestId: request.id, route: request.routeOptions.url }, 'a request failed');
    if (readsPast.has(problem.status)) await readPast(request.raw);
    return sendProblem(problem, reply);
  });
}

export function sendProblem(problem: Problem, reply: FastifyReply): FastifyReply {
  const { retryAfterSeconds, allow } = problem;
  if (typeof retryAfterSeconds === 'number') reply.header('retry-after', String(Math.ceil(retryAfterSeconds)));
  if (Array.isArray(allow)) reply.header('allow', allow.join(', '));
  if (problem.status === 401) reply.header('www-authenticate', 'Bearer');
  return reply.code(problem.status).type(problemJson).send(JSON.stringify(problem));
}

/** Before there is a request: what came is not HTTP, or its headers are too large or too late. */
export const refuseUnreadable = (log: Logger) => (error: Error & { code?: string }, socket: Socket) => {
  if (error.code === 'ECONNRESET' || !socket.writable) return;
  const unreadable = new HotcellError('invalid', `The request is not valid HTTP (${error.code ?? error.message}).`);
  const requestId = randomUUID();
  const body = JSON.stringify(problemOf(unreadable, requestId));
  const head = [
    'HTTP/1.1 400 Bad Request',
    `content-type: ${problemJson}`,
    `content-length: ${Buffer.byteLength(body)}`,
  ];
  log.info({ requestId, status: 400, address: socket.remoteAddress, why: error.code }, 'refused a request');
  socket.end(`${head.join('\r\n')}\r\nconnection: close\r\n\r\n${body}`);
};

/** Refusals of a body that its sender may still be sending. */
const readsPast = new Set([413, 415, 429, 503]);
/** A sender of more than this is cut off, and may not see why. */
const mostBytes = 256 * 1024 * 1024;
const withinMs = 30_000;

/**
 * Reads a refused body to its end and keeps nothing of it: a sender that is cut off sees a broken connection instead of
 * the answer that says why.
 */
async function readPast(request: IncomingMessage): Promise<void> {
  if (request.readableEnded || request.destroyed) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  let bytes = 0;
  const late = setTimeout(resolve, withinMs);
  request.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > mostBytes) resolve();
  });
  for (const name of ['end', 'close', 'error'] as const) request.once(name, resolve);
  request.resume();
  await promise;
  clearTimeout(late);
}
