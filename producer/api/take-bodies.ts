import type { Readable } from 'node:stream';
import { json, octets } from '@hotcell/contract/api/route.ts';
import { HotcellError } from '@hotcell/contract/errors.ts';
import { smallContentBytes } from '@hotcell/record/put-content.ts';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { bodyLimitBytes, type Doors } from '../bounds/doors.ts';
import { Pace } from '../bounds/pace.ts';
import { callerOf } from './authenticate.ts';
import { HeldBody } from './held-body.ts';
import { parseAnyBody } from './parse-long.ts';
import { bodyTooLarge, inWhole, leastSpeed, paced } from './receive-body.ts';

/** The least that a body counts: so many connections are bounded too. Of a body that announces nothing, the first bytes. */
const smallBytes = 64 * 1024;
/** A content that is not held whole is sent on in parts, two at a time. */
const streamedBytes = 10 * 1024 * 1024;

const held = new WeakMap<object, HeldBody>();

/** The body is not needed any more, however long the answer still takes. */
export function releaseBody(request: FastifyRequest): void {
  request.body = undefined;
  held.get(request.raw)?.giveBack();
}

/** JSON is read and parsed within the bounds; contents of uploads are handed on as they come. Anything else is 415. */
export function takeBodies(app: FastifyInstance, { doors, patienceMs }: { doors: Doors; patienceMs: number }): void {
  app.addHook('preParsing', async (request, reply) => {
    const contentType = request.headers['content-type']?.toLowerCase();
    const wanted = request.routeOptions.config.route?.body?.type;
    if (wanted && contentType !== undefined && !contentType.startsWith(wanted))
      throw new HotcellError('unsupported_media_type', `Send the body as content-type: ${wanted}.`);
    if (!wanted) return;
    const body = new HeldBody();
    held.set(request.raw, body);
    reply.raw.once('close', () => body.giveBack());
    // A connection that closed before does not close a second time.
    if (reply.raw.closed) body.giveBack();
  });
  app.addHook('onResponse', async ({ raw }) => {
    if (raw.complete) return;
    // What still comes of a refused body is thrown away, but not for ever.
    setTimeout(() => raw.complete || raw.destroy(), patienceMs).unref();
  });
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(json, async (request: FastifyRequest, payload: Readable) => {
    const size = announcedBy(request);
    const known = heldBy(request);
    // `POST …/cancel` without a reason has no body, and what some clients send with `DELETE` is not read.
    if (!known || size === 0) return undefined;
    const { body, tenant } = known;
    const limit = request.routeOptions.config.route?.body?.mostBytes ?? bodyLimitBytes;
    if (size !== undefined && size > limit) throw bodyTooLarge(limit);
    const take = (bytes: number) => body.take(doors.bodies, tenant, Math.max(bytes, smallBytes), patienceMs);
    const room = size ?? smallBytes;
    let received = await take(room);
    const pace = new Pace({ bytesPerSecond: leastSpeed(room), patienceMs });
    const grow = async () => {
      received();
      received = await take(limit);
      pace.raiseTo(leastSpeed(limit));
    };
    const chunks = await inWhole(paced(payload, pace), { room, limit, grow });
    const bytes = chunks.reduce((sum, chunk) => sum + chunk.length, 0);
    if (bytes === 0) return undefined;
    await body.take(doors.work, tenant, bytes, patienceMs);
    const whole = Buffer.concat(chunks.splice(0));
    try {
      return await parseAnyBody(whole);
    } finally {
      received();
    }
  });
  app.addContentTypeParser(octets, async (request: FastifyRequest, payload: Readable) => {
    const size = announcedBy(request);
    const needed = size !== undefined && size <= smallContentBytes ? Math.max(size, smallBytes) : streamedBytes;
    const known = heldBy(request);
    if (!known) return undefined;
    await known.body.take(doors.bodies, known.tenant, needed, patienceMs);
    return paced(payload, new Pace({ bytesPerSecond: leastSpeed(needed), patienceMs }));
  });
}

/** Undefined for a body in chunks, which does not say. */
function announcedBy({ headers }: FastifyRequest): number | undefined {
  return headers['transfer-encoding'] === undefined ? Number(headers['content-length'] ?? 0) : undefined;
}

/** Nothing for a route that takes no body. */
function heldBy(request: FastifyRequest): { body: HeldBody; tenant: string } | undefined {
  const [body, caller] = [held.get(request.raw), callerOf(request)];
  return body && caller && { body, tenant: caller.tenant };
}
