import { RunId, timeOf } from '@hotcell/contract/names.ts';
import type { RecordReader } from './record-reader.ts';

export interface RunAt {
  tenant: string;
  run: RunId;
}

/** Every run that a record has anything of, those that deletions hide too, tenant by tenant in the order of time. */
export async function* runsIn(
  reader: RecordReader,
  { since }: { since?: Date | undefined } = {},
): AsyncGenerator<RunAt> {
  for await (const prefix of reader.folders('runs/')) {
    const tenant = prefix.split('/')[1] ?? '';
    let last: RunId | undefined;
    for await (const { key } of reader.list(prefix)) {
      const run = RunId.safeParse(key.split('/')[5]);
      if (!run.success || run.data === last) continue;
      last = run.data;
      if (!since || timeOf(run.data) >= since) yield { tenant, run: run.data };
    }
  }
}

/** Where a run of any tenant stands: its id says the day. */
export async function findRun(reader: RecordReader, run: RunId): Promise<RunAt | undefined> {
  const day = timeOf(run).toISOString().slice(0, 10).replaceAll('-', '/');
  for await (const prefix of reader.folders('runs/'))
    for await (const _ of reader.list(`${prefix}${day}/${run}/`)) return { tenant: prefix.split('/')[1] ?? '', run };
  return undefined;
}
