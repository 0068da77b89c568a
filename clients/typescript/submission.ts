import { fileURLToPath } from 'node:url';
import { routes } from '@hotcell/contract/api/routes.ts';
import type { RunRequest } from '@hotcell/contract/spec.ts';
import type { Http } from './http.ts';
import { type OnceOptions, sendOnce } from './send-once.ts';

/** A snapshot's id or name, `RUN:outputs` or `s3://bucket/prefix`; a local path as a `file:` URL; a run or a snapshot. */
export type Input = string | URL | { readonly asInput: string } | { readonly id: string };

export interface JobRequest extends Omit<RunRequest, 'inputs' | 'workspace'> {
  inputs?: Readonly<Record<string, Input>> | undefined;
  /** What lies writable in /work at the start: as an input, or `@empty`. */
  workspace?: Input | undefined;
}

/** Local inputs are frozen first. */
export async function submitJob(http: Http, { inputs, workspace, ...request }: JobRequest, options: OnceOptions) {
  const { signal } = options;
  const named = inputs && Object.fromEntries(await Promise.all(Object.entries(inputs).map(namedBy(http, signal))));
  const work = workspace === undefined ? {} : { workspace: await sourceOf(http, signal, workspace) };
  const json = { ...request, ...(named && { inputs: named }), ...work };
  return await sendOnce(http, options, (headers) => http.call(routes.submitRun, { json, headers, signal }));
}

const namedBy =
  (http: Http, signal: AbortSignal | undefined) =>
  async ([name, source]: [string, Input]): Promise<[string, string]> => [name, await sourceOf(http, signal, source)];

async function sourceOf(http: Http, signal: AbortSignal | undefined, source: Input): Promise<string> {
  if (typeof source === 'string') return source;
  if (!(source instanceof URL)) return 'asInput' in source ? source.asInput : source.id;
  const { uploadSnapshot } = await import('./upload.ts');
  return (await uploadSnapshot(http, fileURLToPath(source), { signal })).id;
}
