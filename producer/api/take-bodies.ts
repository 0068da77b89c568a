import type { Readable } from 'node:stream';
import { json, octets } from '@hotcell/contract/api/route.ts';
import { HotcellError } from '@hotcell/contract/errors.ts';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { bodyLimitBytes, parseBody } from './body.ts';
import { BodyBudget } from './body-budget.ts';

/** Smaller ones are not worth counting. */
const smallBytes = 64 * 1024;
const largeWithinMs = 120_000;

const releases = new WeakMap<object, () => void>();

/** The body is not needed any more, however long the answer still takes. */
export function releaseBody(request: FastifyRequest): void {
  request.body = undefined;
  releases.get(request.raw)?.();
}

/** JSON is parsed within a budget; contents of uploads are handed on as they come. Anything else is 415. */
export function takeBodies(app: FastifyInstance): void {
  const budget = new BodyBudget(bodyLimitBytes);
  app.addHook('preParsing', async (request, reply, payload) => {
    const contentType = request.headers['content-type']?.toLowerCase();
    const wanted = request.routeOptions.config.route?.body?.type;
    if (wanted && contentType !== undefined && !contentType.startsWith(wanted))
      throw new HotcellError('unsupported_media_type', `Send the body as content-type: ${wanted}.`);
    const announced = Number(request.headers['content-length'] ?? bodyLimitBytes);
    if (!contentType?.startsWith(json) || announced <= smallBytes) return payload;
    const giveBack = await budget.reserve(Math.min(announced, bodyLimitBytes));
    // A sender that trickles must not hold for long what others wait for.
    const late = setTimeout(() => request.raw.destroy(), largeWithinMs);
    const release = () => {
      clearTimeout(late);
      giveBack();
    };
    reply.raw.once('close', release);
    // A connection that closed during the wait does not close a second time.
    if (reply.raw.closed) release();
    releases.set(request.raw, release);
    return payload;
  });
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(json, { parseAs: 'buffer' }, async (_request: unknown, body: Buffer) =>
    // `POST …/cancel` without a reason has no body.
    body.length === 0 ? undefined : parseBody(body),
  );
  app.addContentTypeParser(octets, async (_request: unknown, body: Readable) => body);
}
