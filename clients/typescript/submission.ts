import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { routes } from '@hotcell/contract/api/routes.ts';
import { HotcellError } from '@hotcell/contract/errors.ts';
import type { RunRequest } from '@hotcell/contract/spec.ts';
import { Backoff } from './backoff.ts';
import type { Http } from './http.ts';

/** A snapshot's id or name, `RUN:outputs` or `s3://bucket/prefix`; a local path as a `file:` URL; a run or a snapshot. */
export type Input = string | URL | { readonly asInput: string } | { readonly id: string };

export interface JobRequest extends Omit<RunRequest, 'inputs'> {
  inputs?: Readonly<Record<string, Input>> | undefined;
}

interface Options {
  idempotencyKey?: string | undefined;
  signal?: AbortSignal | undefined;
  /** Sends it again when no answer came. The key makes of both one run. */
  patient: boolean;
}

/** Local inputs are frozen first. */
export async function submitJob(http: Http, { inputs, ...request }: JobRequest, options: Options) {
  const { signal } = options;
  const named = inputs && Object.fromEntries(await Promise.all(Object.entries(inputs).map(namedBy(http, signal))));
  const json = { ...request, ...(named && { inputs: named }) };
  return await sendOnce(options, (headers) => http.call(routes.submitRun, { json, headers, signal }));
}

/** Sends it again while no answer comes, always with the same key, and the API does it once. */
export async function sendOnce<T>(
  { idempotencyKey = `ts-${randomUUID()}`, signal, patient }: Options,
  send: (headers: Record<string, string>) => Promise<T>,
): Promise<T> {
  const backoff = new Backoff();
  for (;;) {
    try {
      return await send({ 'idempotency-key': idempotencyKey });
    } catch (error) {
      // What the API refuses for now is its caller's to decide: a full queue may stay full.
      if (!(patient && error instanceof HotcellError && error.code === 'api_unreachable')) throw error;
      await backoff.failed(error, signal);
    }
  }
}

const namedBy =
  (http: Http, signal: AbortSignal | undefined) =>
  async ([name, source]: [string, Input]): Promise<[string, string]> => {
    if (typeof source === 'string') return [name, source];
    if (!(source instanceof URL)) return [name, 'asInput' in source ? source.asInput : source.id];
    const { uploadSnapshot } = await import('./upload.ts');
    return [name, (await uploadSnapshot(http, fileURLToPath(source), { signal })).id];
  };
