import { fileURLToPath } from 'node:url';
import { routes } from '@hotcell/contract/api/routes.ts';
import type { RunRequest } from '@hotcell/contract/spec.ts';
import type { Http } from './http.ts';
import { type OnceOptions, sendOnce } from './send-once.ts';

/** A snapshot's id or name, `RUN:outputs` or `s3://bucket/prefix`; a local path as a `file:` URL; a run or a snapshot. */
export type Input = string | URL | { readonly asInput: string } | { readonly id: string };

export interface JobRequest extends Omit<RunRequest, 'inputs'> {
  inputs?: Readonly<Record<string, Input>> | undefined;
}

/** Local inputs are frozen first. */
export async function submitJob(http: Http, { inputs, ...request }: JobRequest, options: OnceOptions) {
  const { signal } = options;
  const named = inputs && Object.fromEntries(await Promise.all(Object.entries(inputs).map(namedBy(http, signal))));
  const json = { ...request, ...(named && { inputs: named }) };
  return await sendOnce(http, options, (headers) => http.call(routes.submitRun, { json, headers, signal }));
}

const namedBy =
  (http: Http, signal: AbortSignal | undefined) =>
  async ([name, source]: [string, Input]): Promise<[string, string]> => {
    if (typeof source === 'string') return [name, source];
    if (!(source instanceof URL)) return [name, 'asInput' in source ? source.asInput : source.id];
    const { uploadSnapshot } = await import('./upload.ts');
    return [name, (await uploadSnapshot(http, fileURLToPath(source), { signal })).id];
  };
