import { type Digest, hexOf } from '@hotcell/contract/digest.ts';
import { idsFrom, RunId, timeOf } from '@hotcell/contract/names.ts';
import type { Attempt } from '@hotcell/contract/result.ts';

/** The one place that knows where things stand in the two buckets. */
const shards = 16;

/** A run's shard: from the random end of its id, so that one busy second spreads over all. */
function shardOf(run: RunId): string {
  return run.at(-1) ?? '0';
}
export const allShards: readonly string[] = Array.from({ length: shards }, (_, i) => i.toString(16));

function dayOf(time: Date): string {
  const iso = time.toISOString();
  return `${iso.slice(0, 4)}/${iso.slice(5, 7)}/${iso.slice(8, 10)}`;
}

/** Sorts the newest first. */
const newestFirst = (ms: number) => (2 ** 48 - 1 - ms).toString(16).padStart(12, '0');
const untilEndOfTime = (id: RunId) => newestFirst(timeOf(id).getTime());

/** What a delivery is called: by when its event happened, the newest first. */
export const deliveryName = (at: number, event: string) => `${newestFirst(at)}-${event}`;

/** Attempts of the previous version are not placed by their claim. */
export type AttemptPlace = Pick<Attempt, 'attempt' | 'claim'>;

export const recordKeys = {
  run: (tenant: string, run: RunId) => `runs/${tenant}/${dayOf(timeOf(run))}/${run}/`,
  tenantRuns: (tenant: string) => `runs/${tenant}/`,
  runsOfDay: (tenant: string, day: string) => `runs/${tenant}/${day}/`,
  /** After the keys of all runs that are older. */
  runsFrom: (tenant: string, time: Date) => `runs/${tenant}/${dayOf(time)}/${idsFrom(time.getTime())}`,
  spec: (tenant: string, run: RunId) => `${recordKeys.run(tenant, run)}spec.json`,
  result: (tenant: string, run: RunId) => `${recordKeys.run(tenant, run)}result.json`,
  erasure: (tenant: string, run: RunId) => `${recordKeys.run(tenant, run)}erasure.json`,
  /** Its claim is part of its place: two attempts that have the same number, because a claim was lost, share nothing. */
  attempt: (tenant: string, run: RunId, { attempt, claim }: AttemptPlace) =>
    `${recordKeys.run(tenant, run)}${attempt}${claim === undefined ? '' : `-${claim}`}/`,
  log: (tenant: string, run: RunId, place: AttemptPlace) => `${recordKeys.attempt(tenant, run, place)}log.ndjson.zst`,
  evidence: (tenant: string, run: RunId, place: AttemptPlace) =>
    `${recordKeys.attempt(tenant, run, place)}evidence.sigstore.json`,
  attemptEvidence: (tenant: string, run: RunId, place: AttemptPlace) =>
    `${recordKeys.attempt(tenant, run, place)}attempt.sigstore.json`,
  attemptRecord: (tenant: string, run: RunId, place: AttemptPlace) =>
    `${recordKeys.attempt(tenant, run, place)}attempt.json`,
  /** Of a session: the links of its chain, in the order of their numbers. */
  step: (tenant: string, run: RunId, index: number) => `${recordKeys.run(tenant, run)}steps/${index}.json`,
  steps: (tenant: string, run: RunId) => `${recordKeys.run(tenant, run)}steps/`,
  session: (tenant: string, run: RunId) => `${recordKeys.run(tenant, run)}session.json`,
  stepResult: (tenant: string, run: RunId, place: AttemptPlace, index: number) =>
    `${recordKeys.attempt(tenant, run, place)}results/${index}.json`,
  /** Its log, or one of its outputs. */
  stepPart: (tenant: string, run: RunId, place: AttemptPlace, index: number, part: number | 'log') =>
    `${recordKeys.attempt(tenant, run, place)}results/${index}/${part}`,
  posture: (tenant: string, digest: Digest) => `postures/${tenant}/${hexOf(digest)}.json`,
  cas: (tenant: string, digest: Digest) => `cas/${tenant}/sha256/${hexOf(digest).slice(0, 2)}/${hexOf(digest)}`,
  casPrefix: (tenant: string) => `cas/${tenant}/sha256/`,
  manifest: (tenant: string, id: Digest) => `snapshots/${tenant}/${hexOf(id)}.jsonl`,
  locations: (tenant: string, digest: Digest) => `snapshots/${tenant}/locations/${hexOf(digest)}.jsonl`,
  snapshots: (tenant: string) => `snapshots/${tenant}/`,
  snapshotRecord: (tenant: string, id: Digest) => `snapshots/${tenant}/records/${hexOf(id)}.json`,
  snapshotRecords: (tenant: string) => `snapshots/${tenant}/records/`,
  names: (tenant: string) => `names/${tenant}/`,
  name: (tenant: string, name: string) => `names/${tenant}/${name}.json`,
  policy: (digest: Digest) => `policies/${hexOf(digest)}.json`,
  policies: 'policies/',
  policiesRevoked: 'policies/revoked/',
  policyRevoked: (digest: Digest) => `policies/revoked/${hexOf(digest)}.json`,
  seccomp: (digest: Digest) => `seccomp/${hexOf(digest)}.json`,
  preload: (digest: Digest) => `preloads/${hexOf(digest)}.py`,
  image: (digest: Digest) => `images/${hexOf(digest)}.json`,
  tenants: 'tenants/',
  tenant: (tenant: string) => `tenants/${tenant}.json`,
  quotas: 'quotas/',
  quota: (tenant: string) => `quotas/${tenant}.json`,
  keyList: 'keys/list.json',
  keyRequests: 'keys/requests/',
  keyRequest: (fingerprint: Digest) => `keys/requests/${hexOf(fingerprint)}.json`,
  schedules: 'schedules/',
  scheduleHeads: (tenant: string) => `schedules/${tenant}/heads/`,
  scheduleHead: (tenant: string, name: string) => `schedules/${tenant}/heads/${name}.json`,
  scheduleVersions: (tenant: string) => `schedules/${tenant}/versions/`,
  scheduleVersion: (tenant: string, schedule: string, number: number) =>
    `schedules/${tenant}/versions/${schedule}/${number}.json`,
  ticks: (tenant: string, schedule: string) => `schedules/${tenant}/ticks/${schedule}/`,
  tick: (tenant: string, schedule: string, tick: string) => `schedules/${tenant}/ticks/${schedule}/${tick}.json`,
  batchHeads: (tenant: string) => `batches/${tenant}/heads/`,
  /** The newest first. */
  batchHead: (tenant: string, batch: RunId) => `batches/${tenant}/heads/${untilEndOfTime(batch)}-${batch}.json`,
  batchProgress: (tenant: string, batch: RunId) => `batches/${tenant}/progress/${batch}.json`,
  batchChunk: (tenant: string, batch: RunId, chunk: number) => `batches/${tenant}/items/${batch}/${chunk}.json`,
  batchEnds: (tenant: string, batch: RunId, round: number, chunk: number) =>
    `batches/${tenant}/ends/${batch}/${round}/${chunk}.json`,
  batchManifest: (tenant: string, batch: RunId, round: number) =>
    `batches/${tenant}/manifests/${batch}/${round}.ndjson`,
  batchEvidences: (tenant: string) => `batches/${tenant}/evidence/`,
  batchEvidence: (tenant: string, batch: RunId, round: number) =>
    `batches/${tenant}/evidence/${batch}/${round}.sigstore.json`,
  workflows: (tenant: string) => `workflows/${tenant}/made/`,
  /** The newest first. */
  workflow: (tenant: string, id: RunId) => `workflows/${tenant}/made/${untilEndOfTime(id)}-${id}.json`,
  workflowCancel: (tenant: string, id: RunId) => `workflows/${tenant}/cancels/${id}.json`,
  workflowTask: (tenant: string, id: RunId, task: string) => `workflows/${tenant}/tasks/${id}/${task}.json`,
  workflowProgress: (tenant: string, id: RunId) => `workflows/${tenant}/progress/${id}.json`,
  workflowEnd: (tenant: string, id: RunId) => `workflows/${tenant}/ends/${id}.json`,
  reusable: (tenant: string, computed: Digest) => `reuse/${tenant}/${hexOf(computed)}.json`,
  allWebhooks: 'webhooks/',
  webhooks: (tenant: string) => `webhooks/${tenant}/heads/`,
  webhook: (tenant: string, id: string) => `webhooks/${tenant}/heads/${id}.json`,
  callKeys: (tenant: string) => `webhooks/${tenant}/callbacks.json`,
  deliveries: (tenant: string, webhook: string) => `webhooks/${tenant}/deliveries/${webhook}/`,
  delivery: (tenant: string, webhook: string, name: string) => `webhooks/${tenant}/deliveries/${webhook}/${name}.json`,
  /** Of batches, webhooks and workflows: which of them a tenant has, where their number is bounded. */
  slots: (of: 'batches' | 'webhooks' | 'workflows', tenant: string) => `${of}/${tenant}/places.json`,
  apiKeys: 'apikeys/',
  apiKey: (id: string) => `apikeys/${id}.json`,
} as const;

export const workKeys = {
  open: (tenant: string, run: RunId) => `open/${shardOf(run)}/${tenant}/${run}`,
  openShard: (shard: string) => `open/${shard}/`,
  claim: (run: RunId, attempt: number) => `claims/${run}/${String(attempt).padStart(4, '0')}`,
  claims: (run: RunId) => `claims/${run}/`,
  done: (tenant: string, run: RunId) => `done/${shardOf(run)}/${tenant}/${run}`,
  doneMarkers: 'done/',
  idempotencyMarks: 'idempotency/',
  idempotency: (tenant: string, key: string) => `idempotency/${tenant}/${key}`,
  cancel: (run: RunId) => `cancel/${run}`,
  logSegment: (run: RunId, attempt: number, index: number) =>
    `logs/${run}/${attempt}/${String(index).padStart(8, '0')}`,
  logs: (run: RunId) => `logs/${run}/`,
  segments: (run: RunId, attempt: number) => `logs/${run}/${attempt}/`,
  uploads: 'uploads/',
  /** Names the attempt, so that others can tell whose it was. */
  outputUpload: (tenant: string, run: string, attempt: number, id: string) =>
    `uploads/${tenant}/${run}-${attempt}-${id}`,
  disk: 'disk/samples.json',
  freezing: (tenant: string, id: string) => `freezing/${tenant}/${id}`,
  freezingOf: (tenant: string) => `freezing/${tenant}/`,
  /** What was frozen last from a place: by the digest of its address. */
  remembered: (tenant: string, place: Digest) => `remembered/${tenant}/${hexOf(place)}.jsonl`,
  allWebhookEvents: 'events/',
  webhookEvents: (tenant: string) => `events/${tenant}/`,
  webhookEvent: (tenant: string, id: string) => `events/${tenant}/${id}`,
  allSending: 'sending/',
  sendingOf: (tenant: string) => `sending/${tenant}/`,
  sendingTo: (tenant: string, webhook: string) => `sending/${tenant}/${webhook}/`,
  sending: (tenant: string, webhook: string, name: string) => `sending/${tenant}/${webhook}/${name}`,
  allCalling: 'calling/',
  callingOf: (tenant: string) => `calling/${tenant}/`,
  callingIn: (tenant: string, track: string) => `calling/${tenant}/${track}/`,
  /** The same for a callback; which track follows from its host. */
  calling: (tenant: string, track: string, name: string) => `calling/${tenant}/${track}/${name}`,
  openBatches: 'batches/',
  openBatchesOf: (tenant: string) => `batches/${tenant}/`,
  /** Names the round: the mark of one that ended is never that of the next. */
  openBatch: (tenant: string, batch: RunId, round: number) => `batches/${tenant}/${batch}/${round}`,
  openWorkflows: 'workflows/',
  openWorkflowsOf: (tenant: string) => `workflows/${tenant}/`,
  openWorkflow: (tenant: string, id: RunId) => `workflows/${tenant}/${id}`,
  sweeping: 'gc/sweeping',
} as const;

/** Whose attempt sends to this key in parts: its log, or an output that waits for its digest; undefined for any other. */
export function attemptOf(key: string): { run: RunId; attempt: number } | undefined {
  const [, run, attempt] =
    /^runs\/[^/]+\/\d+\/\d+\/\d+\/([^/]+)\/(\d+)(?:-[^/]+)?\/log\.ndjson\.zst$/.exec(key) ??
    /^uploads\/[^/]+\/([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})-(\d+)-[^/]+$/.exec(key) ??
    [];
  const parsed = RunId.safeParse(run);
  return parsed.success ? { run: parsed.data, attempt: Number(attempt) } : undefined;
}

/** From the key of an open or done marker back to what it marks; undefined for a key that is none of ours. */
export function markerOf(key: string): { tenant: string; run: RunId } | undefined {
  const [, , tenant, name, ...rest] = key.split('/');
  const run = RunId.safeParse(name);
  return tenant && run.success && rest.length === 0 ? { tenant, run: run.data } : undefined;
}
