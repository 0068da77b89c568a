import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { LogRow } from '@hotcell/contract/log-rows.ts';
import type { Result } from '@hotcell/contract/result.ts';
import type { RunRequest } from '@hotcell/contract/spec.ts';
import { uploadSource } from '../upload-sources.ts';
import type { Hotcell } from '@hotcell/client/index.ts';

const here = import.meta.dirname;

export interface Shown {
  note: (text: string) => void;
  log: (row: LogRow) => Promise<void>;
}

export interface Finished {
  result: Result;
  /** Its stderr. */
  errors: string;
}

/** A transform over bundled data. */
export async function transform(client: Hotcell, shown: Shown): Promise<Finished> {
  const sales = (await uploadSource(client, join(here, 'sales.csv'), { ...shown, warnings: () => undefined })).id;
  shown.note(`Froze clients/cli/demo/sales.csv as ${sales}`);
  return await execute(client, shown, {
    blocks: [{ language: 'python', code: await readFile(join(here, 'transform.py'), 'utf8') }],
    policy: 'analytics',
    inputs: { sales },
    labels: { demo: 'transform' },
  });
}

/** A block that tries to send data out. */
export async function phoneHome(client: Hotcell, shown: Shown): Promise<Finished> {
  return await execute(client, shown, {
    blocks: [{ language: 'python', code: await readFile(join(here, 'phone_home.py'), 'utf8') }],
    policy: 'sealed',
    labels: { demo: 'network' },
  });
}

async function execute(client: Hotcell, shown: Shown, request: RunRequest): Promise<Finished> {
  const run = await client.submit(request);
  shown.note(`Accepted run ${run.id} under policy ${request.policy}`);
  let errors = '';
  for await (const event of run.events()) {
    if (event.type === 'result') return { result: event.result, errors };
    if (event.type === 'status' && event.status !== 'finished')
      shown.note(event.reason ? `${event.status}: ${event.reason}` : event.status);
    if (event.type !== 'log') continue;
    if (event.stream === 'stderr') errors += event.text ?? '';
    await shown.log(event);
  }
  return { result: await run.result(), errors };
}

/** The errors of programs without network, in any language. */
const noNetwork =
  /network is unreachable|name resolution|name or service not known|address family not supported|operation not permitted|ENETUNREACH|EAI_AGAIN/i;

/** Whether it failed because it had no network, and for no other reason. */
export function wasSealed({ result, errors }: Finished): boolean {
  return result.outcome === 'failed' && noNetwork.test(errors);
}
