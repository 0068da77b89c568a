import { Readable } from 'node:stream';
import { ndjson } from '@hotcell/contract/api/route.ts';
import type { Digest } from '@hotcell/contract/digest.ts';
import { HotcellError } from '@hotcell/contract/errors.ts';
import { tellPublished } from '@hotcell/record/commit.ts';
import { namesOf, publishName, removeName } from '@hotcell/record/snapshot-name.ts';
import type { SnapshotRecord } from '@hotcell/record/schemas.ts';
import {
  diffJson,
  entriesJson,
  type KeptSnapshot,
  removeSnapshot,
  snapshotRecord,
  useSnapshot,
} from '@hotcell/record/snapshot-store.ts';
import { freezeOutputs } from '../freeze/freeze-outputs.ts';
import { type FreezeOptions, freezePrefix } from '../freeze/prefix.ts';
import type { ReadDeps } from '../freeze/read-object.ts';
import { Uploads } from '../freeze/uploads.ts';
import type { Producer } from '../producer.ts';
import { listSnapshots, namesBySnapshot, snapshotViewOf } from '../snapshots/list-snapshots.ts';
import { idOfName, idOfVersion, resolveInput } from '../snapshots/resolve.ts';
import { sourceForm } from '../snapshots/source.ts';
import { verifySnapshot } from '../snapshots/verify-snapshot.ts';
import { type Freeze, freezeEvents } from './freeze-events.ts';
import type { Handlers } from './register-routes.ts';
import { heldFor, jsonLines, sendJson, streamed } from './streams.ts';

export function snapshotHandlers(producer: Producer) {
  const { bulk: store, streams } = producer;
  const deps = { ...producer, store };
  const uploads = new Uploads(deps);
  return {
    async beginUpload({ caller, body, reply }) {
      reply.code(201);
      return await uploads.begin(caller.tenant, body.files);
    },

    async uploadContent({ caller, params: { upload, sha256 }, request, reply }) {
      const chunks = (request.body as AsyncIterable<Buffer> | undefined) ?? Readable.from([]);
      const announced = request.headers['content-length'];
      const size = announced === undefined ? undefined : Number(announced);
      await uploads.take(caller.tenant, upload, sha256, { chunks, size });
      return reply.code(204).send();
    },

    async createSnapshot({ caller: { tenant, key }, body, request, reply }) {
      const by = `key ${key}`;
      const freeze: Freeze = async (progress) => {
        const { snapshot, files, bytes, locations } =
          'upload' in body
            ? await uploads.finish(tenant, { ...body, by })
            : await freezeSource(deps, tenant, { ...body, by, progress });
        if (body.name !== undefined) await tellPublished(producer, tenant, body.name);
        return { id: snapshot, name: body.name, files, bytes, locations };
      };
      if (!('upload' in body) && request.headers.accept?.includes(ndjson)) {
        heldFor(reply, streams.take(tenant));
        return streamed(reply, producer, ndjson, '\n', jsonLines(freezeEvents(freeze, request.id)));
      }
      const created = await freeze();
      reply.code(201).header('location', `/v1/snapshots/${created.id}`);
      return created;
    },

    listSnapshots: async ({ caller, query }) => await listSnapshots(store, caller.tenant, query.limit, query.cursor),

    async getSnapshot({ caller: { tenant }, params: { snapshot }, reply }) {
      const record = await recordOf(deps, tenant, snapshot);
      const id = record.snapshot;
      const [entries, names] = await Promise.all([entriesJson(store, tenant, id), namesBySnapshot(store, tenant)]);
      return sendJson(reply, snapshotViewOf(record, names.get(id) ?? []), ['"entries":', entries]);
    },

    async verifySnapshot({ caller: { tenant }, params: { snapshot } }) {
      return await verifySnapshot(deps, tenant, (await recordOf(deps, tenant, snapshot)).snapshot);
    },

    async diffSnapshots({ caller: { tenant }, params, reply }) {
      const [before, after] = await Promise.all([
        recordOf(deps, tenant, params.snapshot),
        recordOf(deps, tenant, params.other),
      ]);
      const differences = await diffJson(store, tenant, before.snapshot, after.snapshot);
      const head = { before: before.snapshot, after: after.snapshot };
      return sendJson(reply, head, [differences.subarray(1, -1)]);
    },

    async removeSnapshot({ caller: { tenant, key }, params: { snapshot } }) {
      const { snapshot: id } = await recordOf(deps, tenant, snapshot);
      const names = (await namesBySnapshot(store, tenant)).get(id) ?? [];
      if (names.length > 0)
        throw new HotcellError(
          'conflict',
          `${id} is what ${names.join(', ')} ${names.length === 1 ? 'points' : 'point'} to. Move or remove the name first (DELETE /v1/snapshot-names/${names[0]}).`,
        );
      await removeSnapshot(store, tenant, id, `key ${key}`);
      return { id };
    },

    async removeSnapshotName({ caller: { tenant, key }, params: { name } }) {
      if (!(await removeName(store, tenant, name, `key ${key}`)))
        throw new HotcellError('not_found', `No snapshot is named ${name}. GET /v1/snapshot-names lists the names.`);
      return { name };
    },

    listSnapshotNames: async ({ caller }) => ({ names: await Array.fromAsync(namesOf(store, caller.tenant)) }),
  } satisfies Partial<Handlers>;
}

async function recordOf(deps: ReadDeps, tenant: string, named: string): Promise<SnapshotRecord> {
  const id = await idOf(deps, tenant, named);
  const record = await snapshotRecord(deps.store, tenant, id);
  if (record) return record;
  if (named === id)
    throw new HotcellError('not_found', `Snapshot ${id} not found. GET /v1/snapshots lists the snapshots.`);
  throw new HotcellError(
    'not_found',
    `${named} points to ${id}, which was removed or collected as garbage. Freeze its source again.`,
  );
}

async function idOf(deps: ReadDeps, tenant: string, named: string): Promise<Digest> {
  const form = sourceForm(named);
  if (form.kind === 'id') return form.id;
  if (form.kind === 'name') return idOfName(deps.store, tenant, form.name);
  if (form.kind === 'version') return idOfVersion(deps.store, tenant, form);
  if (form.kind === 'outputs') return (await freezeOutputs(deps.store, tenant, form.run)).snapshot;
  throw new HotcellError('invalid', `${named} must be a snapshot's id, its name or RUN:outputs.`);
}

async function freezeSource(
  deps: ReadDeps,
  tenant: string,
  { source, ...options }: FreezeOptions & { source: string },
): Promise<KeptSnapshot> {
  const form = sourceForm(source);
  if (form.kind === 's3') return freezePrefix(deps, tenant, form, options);
  const kept = await resolveInput(deps, tenant, source);
  if (options.name !== undefined) {
    await useSnapshot(deps.store, tenant, kept.snapshot);
    await publishName(deps.store, tenant, options.name, kept.snapshot, options.by);
  }
  return kept;
}
