import { RunId } from '@hotcell/contract/names.ts';
import type { ListedKey } from '@hotcell/outside/store/store-list.ts';
import type { Buckets } from './buckets.ts';
import { recordKeys } from './layout.ts';

export interface RecordedRun {
  run: RunId;
  /** It has a spec, with its code. */
  asked?: true;
  /** It has a result. */
  ended: boolean;
  /** An erasure lies with it. Whether a root signed it is for the reader to say. */
  erased?: boolean;
}

/** The tenants that have anything under a root of the record. */
export async function* tenantsIn(store: Buckets, root: 'runs/' | 'cas/' | 'snapshots/'): AsyncGenerator<string> {
  for await (const folder of store.listFolders(store.record, root)) yield folder.slice(root.length, -1);
}

/**
 * A tenant's runs in the order of time. A short page is parsed without holding up others.
 */
export async function* runsOf(store: Buckets, tenant: string): AsyncGenerator<RecordedRun> {
  yield* runsAmong(store.list(store.record, recordKeys.tenantRuns(tenant), { pageSize: keysAtOnce }));
}

/** The keys that one request lists: more than one run has. */
const keysAtOnce = 200;

export interface Stretch {
  /** Of one day (`2026/11/18`), or of all. */
  day?: string;
  since?: Date;
  /** Where the page before ended. */
  after?: string | undefined;
}

/**
 * The next runs of a tenant, from one request. `last`: where the next page begins; undefined when there are no more. A
 * run whose keys may go on in the next page belongs to that one.
 */
export async function nextRuns(
  store: Buckets,
  tenant: string,
  { day, since, after = since && recordKeys.runsFrom(tenant, since) }: Stretch,
): Promise<{ runs: RecordedRun[]; last: string | undefined }> {
  const prefix = day === undefined ? recordKeys.tenantRuns(tenant) : recordKeys.runsOfDay(tenant, day);
  const keys: ListedKey[] = [];
  for await (const key of store.list(store.record, prefix, { ...(after && { after }), pageSize: keysAtOnce }))
    if (keys.push(key) === keysAtOnce) break;
  const runs = await Array.fromAsync(runsAmong(keys));
  if (keys.length < keysAtOnce) return { runs, last: undefined };
  const cut = runs.at(-1)?.run;
  const whole = keys.findLast(({ key }) => cut === undefined || !key.includes(cut));
  if (whole) return { runs: runs.slice(0, -1), last: whole.key };
  return cut === undefined ? { runs, last: keys.at(-1)?.key } : await allOf(store, tenant, cut);
}

/** A session has more keys than a page: its result is looked for, and the next page begins behind all of them. */
async function allOf(store: Buckets, tenant: string, run: RunId): Promise<{ runs: RecordedRun[]; last: string }> {
  const ended = (await store.head(store.record, recordKeys.result(tenant, run))) !== undefined;
  // The character after the slash.
  return { runs: [{ run, ended }], last: `${recordKeys.run(tenant, run).slice(0, -1)}0` };
}

/** The newest day (`2026/11/18`) before another one on which a tenant has runs. */
export async function dayBefore(store: Buckets, tenant: string, day: string, folder = ''): Promise<string | undefined> {
  const root = recordKeys.tenantRuns(tenant);
  const inside: string[] = [];
  for await (const prefix of store.listFolders(store.record, `${root}${folder}`))
    inside.push(prefix.slice(root.length, -1));
  for (const name of inside.toReversed()) {
    const isDay = name.split('/').length === 3;
    if (isDay ? name >= day : name > day.slice(0, name.length)) continue;
    const found = isDay ? name : await dayBefore(store, tenant, day, `${name}/`);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** The keys of a run stand together. */
async function* runsAmong(keys: AsyncIterable<ListedKey> | Iterable<ListedKey>): AsyncGenerator<RecordedRun> {
  let last: RecordedRun | undefined;
  for await (const { key } of keys) {
    const [, , , , , name, ...below] = key.split('/');
    const run = RunId.safeParse(name);
    if (!run.success) continue;
    if (last && last.run !== run.data) yield last;
    if (last?.run !== run.data) last = { run: run.data, ended: false };
    // Nothing further below is either: a worker may put into folders of any name.
    const [file] = below.length === 1 ? below : [];
    last.ended ||= file === 'result.json';
    if (file === 'erasure.json') last.erased = true;
    if (file === 'spec.json') last.asked = true;
  }
  if (last) yield last;
}
