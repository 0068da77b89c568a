import { Readable } from 'node:stream';
import { Digest } from '@hotcell/contract/digest.ts';
import { HotcellError } from '@hotcell/contract/errors.ts';
import { SnapshotName } from '@hotcell/contract/names.ts';
import { SnapshotEntry } from '@hotcell/contract/snapshot.ts';
import { diffOf } from '@hotcell/contract/snapshot-diff.ts';
import { SnapshotMode } from '@hotcell/contract/snapshot.ts';
import { publishName } from '@hotcell/record/snapshot-name.ts';
import { type KeptSnapshot, manifestAt, snapshotRecord, useSnapshot } from '@hotcell/record/snapshot-store.ts';
import type { FastifyReply } from 'fastify';
import { z } from 'zod';
import { freezeOutputs } from '../freeze/freeze-outputs.ts';
import { freezePrefix, type Progress } from '../freeze/prefix.ts';
import { Uploads } from '../freeze/uploads.ts';
import { listSnapshots, namesBySnapshot, viewOf } from '../snapshots/list-snapshots.ts';
import { namesOf } from '@hotcell/record/snapshot-name.ts';
import { idOfName, resolveInput, type ResolveDeps } from '../snapshots/resolve.ts';
import { sourceForm } from '../snapshots/source.ts';
import { verifySnapshot } from '../snapshots/verify-snapshot.ts';
import { type App, callerOf } from './app.ts';
import { problemOf } from './problem.ts';

const Files = z.array(SnapshotEntry).max(100_000, 'a snapshot holds at most 100000 files: freeze parts of the folder');
const NewUpload = z.strictObject({ files: Files });
const NewSnapshot = z.union(
  [
    z.strictObject({ upload: z.uuid(), files: Files, name: SnapshotName.optional() }),
    z.strictObject({
      source: z.string().min(1).max(1024),
      name: SnapshotName.optional(),
      mode: SnapshotMode.default('copy'),
    }),
  ],
  { error: 'a snapshot is made of { source, name?, mode? }, or of an upload: { upload, files, name? }' },
);
const Page = z.object({
  limit: z.coerce.number().int().min(1).max(1000).default(100),
  cursor: Digest.optional(),
});
/** An id, or a name. */
const Which = z.object({ snapshot: z.string().min(1).max(256) });
/** The largest single file; node counts what really comes. */
const contentLimitBytes = 2 ** 40;

export function snapshotRoutes(app: App, deps: ResolveDeps): void {
  const uploads = new Uploads(deps);
  const { store } = deps;

  app.post('/v1/uploads', { schema: { body: NewUpload } }, async (request, reply) => {
    const { tenant } = callerOf(request, 'submitter');
    return reply.code(201).send(await uploads.begin(tenant, request.body.files));
  });

  // Contents come as they are, and are not held in memory: only this route reads bodies like that.
  app.register(async (contents: App) => {
    contents.addContentTypeParser('application/octet-stream', (_request: unknown, body: Readable) =>
      Promise.resolve(body),
    );
    contents.put(
      '/v1/uploads/:upload/:sha256',
      { schema: { params: z.object({ upload: z.uuid(), sha256: Digest }) }, bodyLimit: contentLimitBytes },
      async (request, reply) => {
        const { tenant } = callerOf(request, 'submitter');
        const { upload, sha256 } = request.params;
        const body = request.body instanceof Readable ? request.body : Readable.from([]);
        const announced = request.headers['content-length'];
        const size = announced === undefined ? undefined : Number(announced);
        await uploads.take(tenant, upload, sha256, { chunks: body, size });
        return reply.code(204).send();
      },
    );
  });

  app.post('/v1/snapshots', { schema: { body: NewSnapshot } }, async (request, reply) => {
    const { tenant, key } = callerOf(request, 'submitter');
    const by = `key ${key}`;
    const { body } = request;
    if ('upload' in body) return created(reply, await uploads.finish(tenant, { ...body, by }), body.name);
    const freeze = (progress?: (progress: Progress) => void) => freezeSource(deps, tenant, { ...body, by, progress });
    if (!request.headers.accept?.includes('application/x-ndjson')) return created(reply, await freeze(), body.name);
    return reply.type('application/x-ndjson').send(Readable.from(told(freeze, body.name, request.id)));
  });

  app.get('/v1/snapshots', { schema: { querystring: Page } }, async (request) => {
    const { tenant } = callerOf(request);
    return listSnapshots(store, tenant, request.query.limit, request.query.cursor);
  });

  app.get('/v1/snapshots/:snapshot', { schema: { params: Which } }, async (request) => {
    const { tenant } = callerOf(request);
    const id = await idOf(deps, tenant, request.params.snapshot);
    const record = await snapshotRecord(store, tenant, id);
    if (!record) throw notThere(request.params.snapshot, id);
    const [entries, names] = await Promise.all([manifestAt(store, tenant, id), namesBySnapshot(store, tenant)]);
    return { ...viewOf(record, names.get(id) ?? []), entries };
  });

  app.post('/v1/snapshots/:snapshot/verify', { schema: { params: Which } }, async (request) => {
    const { tenant } = callerOf(request);
    const id = await idOf(deps, tenant, request.params.snapshot);
    if (!(await snapshotRecord(store, tenant, id))) throw notThere(request.params.snapshot, id);
    return verifySnapshot(deps, tenant, id);
  });

  app.get(
    '/v1/snapshots/:snapshot/diff/:other',
    { schema: { params: Which.extend({ other: z.string().min(1).max(256) }) } },
    async (request) => {
      const { tenant } = callerOf(request);
      const [before, after] = await Promise.all([
        idOf(deps, tenant, request.params.snapshot),
        idOf(deps, tenant, request.params.other),
      ]);
      const manifests = await Promise.all([manifestAt(store, tenant, before), manifestAt(store, tenant, after)]);
      return { before, after, ...diffOf(...manifests) };
    },
  );

  app.get('/v1/snapshot-names', async (request) => {
    const { tenant } = callerOf(request);
    return { names: await Array.fromAsync(namesOf(store, tenant)) };
  });
}

function notThere(which: string, id: Digest): HotcellError {
  if (which === id)
    return new HotcellError('not_found', `there is no snapshot ${id}: ./hotcell snapshot ls shows what there is`);
  return new HotcellError(
    'not_found',
    `${which} points to ${id}, which was collected as garbage: freeze its source again with ./hotcell snapshot create`,
  );
}

async function idOf(deps: ResolveDeps, tenant: string, which: string): Promise<Digest> {
  const form = sourceForm(which);
  if (form.kind === 'id') return form.id;
  if (form.kind === 'name') return idOfName(deps.store, tenant, form.name);
  if (form.kind === 'outputs') return (await freezeOutputs(deps.store, tenant, form.run)).snapshot;
  throw new HotcellError('invalid', `${which} is no snapshot's id or name, nor RUN:outputs`);
}

interface Freezing {
  source: string;
  mode: SnapshotMode;
  name?: string | undefined;
  by: string;
  progress?: ((progress: Progress) => void) | undefined;
}

async function freezeSource(deps: ResolveDeps, tenant: string, asked: Freezing): Promise<KeptSnapshot> {
  const form = sourceForm(asked.source);
  const { progress, name, ...options } = asked;
  if (form.kind === 's3') return freezePrefix(deps, tenant, form, { ...options, name, ...(progress && { progress }) });
  const kept = await resolveInput(deps, tenant, asked.source);
  if (name !== undefined) {
    await useSnapshot(deps.store, tenant, kept.snapshot);
    await publishName(deps.store, tenant, name, kept.snapshot, asked.by);
  }
  return kept;
}

const bodyOf = ({ snapshot, locations, files, bytes }: KeptSnapshot, name: string | undefined) => ({
  id: snapshot,
  ...(name === undefined ? {} : { name }),
  files,
  bytes,
  locations,
});

function created(reply: FastifyReply, kept: KeptSnapshot, name: string | undefined) {
  return reply.code(201).header('location', `/v1/snapshots/${kept.snapshot}`).send(bodyOf(kept, name));
}

/** How far a long freeze is, line by line, and at the end what became of it. */
async function* told(
  freeze: (progress: (progress: Progress) => void) => Promise<KeptSnapshot>,
  name: string | undefined,
  requestId: string,
): AsyncGenerator<string> {
  const line = (value: unknown) => `${JSON.stringify(value)}\n`;
  let latest: Progress | undefined;
  let wake = Promise.withResolvers<void>();
  const frozen = freeze((progress) => {
    latest = progress;
    wake.resolve();
  });
  const end = frozen.then(
    (kept) => line({ type: 'snapshot', ...bodyOf(kept, name) }),
    (error: unknown) => line({ ...problemOf(error, requestId), type: 'error' }),
  );
  for (;;) {
    const ended = await Promise.race([end, wake.promise]);
    if (ended !== undefined) {
      yield ended;
      return;
    }
    wake = Promise.withResolvers();
    if (latest) yield line({ type: 'progress', ...latest });
  }
}
