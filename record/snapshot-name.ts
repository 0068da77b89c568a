import type { Digest } from '@hotcell/contract/digest.ts';
import { HotcellError } from '@hotcell/contract/errors.ts';
import type { NameVersions } from '@hotcell/contract/published-versions.ts';
import { type NameVersion, SnapshotName } from '@hotcell/contract/names.ts';
import { parseAs } from '@hotcell/contract/parse.ts';
import type { Buckets } from './buckets.ts';
import { recordKeys } from './layout.ts';
import { objects } from './objects.ts';
import type { SnapshotNameRecord } from './schemas.ts';
import { change, readStored, readValue, type Stored } from './read-write.ts';

/** With what changes whenever it moves. */
export async function readVersions(store: Buckets, tenant: string, name: string) {
  const found = await readStored(store, objects.name, tenant, name);
  return { etag: found?.etag, ...(found ? versionsOf(found.value) : { versions: [] }) };
}

export async function readName(store: Buckets, tenant: string, name: string): Promise<SnapshotNameRecord | undefined> {
  parseAs(SnapshotName, name, `the name ${JSON.stringify(name)}`);
  return await readValue(store, objects.name, tenant, name);
}

/** Where the name points: the latest entry by its time, not by when it was written; of equals the one written last. */
export function pointsTo(name: SnapshotNameRecord): Digest {
  const latest = name.history.toSorted((a, b) => a.at.localeCompare(b.at)).at(-1);
  if (!latest) throw new HotcellError('record_damaged', `The name ${name.name} has no history.`);
  return latest.snapshot;
}

const inTime = ({ history }: SnapshotNameRecord) => history.toSorted((a, b) => a.at.localeCompare(b.at));

/** The move that a person names by its number, from 1, or by a time: the last one until then. */
export function versionOf(record: SnapshotNameRecord, { name, number, at }: NameVersion): Pointing {
  const { forgotten = 0 } = record;
  const history = inTime(record);
  const found =
    number === undefined ? history.findLast((move) => move.at <= (at ?? '')) : history[number - forgotten - 1];
  if (found) return found;
  const known = `${name} has the versions ${forgotten + 1} to ${forgotten + history.length}, from ${history[0]?.at} on`;
  throw new HotcellError(
    'not_found',
    `${name}@${number ?? `{${at}}`} is not known: ${known}. GET /v1/snapshot-names has its history.`,
  );
}

/**
 * Move a name to a snapshot. Doing it twice is doing it once, and a publication that is made up for late (its worker
 * had died) takes its place in the history by its own time: it never moves the name back.
 */
export async function publishName(
  store: Buckets,
  tenant: string,
  name: string,
  snapshot: Digest,
  by: string,
  at: Date = new Date(),
): Promise<void> {
  parseAs(SnapshotName, name, `the name ${JSON.stringify(name)}`);
  const moved = (before: Stored<SnapshotNameRecord> | undefined): SnapshotNameRecord | undefined => {
    const history = before?.value.history ?? [];
    if (history.some((h) => h.by === by && h.at === at.toISOString() && h.snapshot === snapshot)) return undefined;
    const entry = { snapshot, at: at.toISOString(), by, recorded: nextRecorded(before?.value) };
    const all = [...history, entry].toSorted((a, b) => a.at.localeCompare(b.at));
    const after = all.slice(-keptHistory);
    const dropped = all.slice(0, -keptHistory);
    const forgotten = (before?.value.forgotten ?? 0) + dropped.length;
    const forgottenUntil = latest([before?.value.forgottenUntil ?? '', ...dropped.map(recordedOf)]);
    // A publication that is made up for so late that the history has forgotten its time changes nothing.
    if (!after.includes(entry)) return undefined;
    return { version: 1, name, history: after, ...(forgotten > 0 && { forgotten, forgottenUntil }) };
  };
  await change(store, objects.name, moved, tenant, name);
}

/** Moves of earlier versions of Hotcell say nothing but their own time. */
const recordedOf = ({ recorded, at }: Pointing) => recorded ?? at;
const latest = (times: readonly string[]) => times.toSorted().at(-1) ?? '';

/** Now, but later than all that the history has and had: clocks differ, and it takes in no two at the same moment. */
function nextRecorded(name: SnapshotNameRecord | undefined): string {
  const last = latest([name?.forgottenUntil ?? '', ...(name?.history ?? []).map(recordedOf)]);
  return new Date(Math.max(Date.now(), last === '' ? 0 : Date.parse(last) + 1)).toISOString();
}

/** What a schedule that waits for this name has ticks for. */
export function versionsOf(record: SnapshotNameRecord): NameVersions {
  const { name, forgotten = 0, forgottenUntil } = record;
  const numbered = inTime(record).map((move, i) => ({ move, number: forgotten + i + 1 }));
  const inOrder = numbered.toSorted((a, b) => recordedOf(a.move).localeCompare(recordedOf(b.move)));
  let previous: string | null = null;
  const versions = inOrder.map(({ move, number }) => {
    const { snapshot, at, by } = move;
    const version = { name, snapshot, number, at, by, previous, planned: Date.parse(recordedOf(move)) };
    previous = recordedOf(move);
    return version;
  });
  return { versions, forgottenUntil: forgottenUntil === undefined ? undefined : Date.parse(forgottenUntil) };
}

/** Takes a name out of use. Its history stays, and publishing brings it back. Answers whether there was one. */
export async function removeName(store: Buckets, tenant: string, name: string, by: string): Promise<boolean> {
  let isThere = false;
  const removed = (before: Stored<SnapshotNameRecord> | undefined) => {
    isThere = before !== undefined && !before.value.removed;
    return before && isThere ? { ...before.value, removed: { by, at: new Date().toISOString() } } : undefined;
  };
  await change(store, objects.name, removed, tenant, name);
  return isThere;
}

/** The newest entry is where the name points; runs say themselves what they published. */
export const keptHistory = 100;

type Pointing = SnapshotNameRecord['history'][number];

/** The names of a tenant, and what changes whenever one of them moves. */
export async function* listNames(store: Buckets, tenant: string): AsyncGenerator<{ name: string; etag: string }> {
  const prefix = recordKeys.names(tenant);
  for await (const { key, etag } of store.list(store.record, prefix))
    yield { name: key.slice(prefix.length, -'.json'.length), etag };
}

/** All names of a tenant, where they point and, oldest first, where they pointed before. */
export async function* namesOf(
  store: Buckets,
  tenant: string,
): AsyncGenerator<Pointing & { name: string; history: (Pointing & { number: number })[] }> {
  const prefix = recordKeys.names(tenant);
  for await (const { key } of store.list(store.record, prefix)) {
    const record = await readValue(store, objects.name, tenant, key.slice(prefix.length, -'.json'.length));
    if (!record || record.removed) continue;
    const { forgotten = 0 } = record;
    const history = inTime(record).map(({ snapshot, at, by }, i) => ({ snapshot, at, by, number: forgotten + i + 1 }));
    const { at = '', by = '' } = history.at(-1) ?? {};
    yield { name: record.name, snapshot: pointsTo(record), at, by, history };
  }
}
