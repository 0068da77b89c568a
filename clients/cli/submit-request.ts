import type { RunRequest } from '@hotcell/contract/spec.ts';
import type { Hotcell, Run } from '@hotcell/client/index.ts';
import { buildRequest, type FreezePath } from './build-request.ts';
import type { RunOptions } from './run-options.ts';
import type { Reporter } from './reporter.ts';

/** What the 202 says beside the run's id. */
export const toldOf = ({ warnings, receipt }: Run) => ({
  ...(warnings.length > 0 && { warnings }),
  ...(receipt && { receipt }),
});

/** Loads the code that uploads only when there is something to upload. */
export function uploadsTo(client: Hotcell, reporter: Reporter, exclude: readonly string[] = []): FreezePath {
  return async (path) => {
    const { uploadSource } = await import('./upload-sources.ts');
    return (await uploadSource(client, path, reporter, { exclude })).id;
  };
}

/** Builds the request of a command line and submits it; folders are uploaded first, as snapshots. */
export async function submitRequest(
  client: Hotcell,
  files: readonly string[],
  options: RunOptions,
  reporter: Reporter,
  signal?: AbortSignal,
): Promise<Run> {
  const request: RunRequest = await buildRequest(
    files,
    options,
    uploadsTo(client, reporter, options.exclude),
    reporter.note,
  );
  return await client.submit(request, { idempotencyKey: options.idempotencyKey, signal });
}
