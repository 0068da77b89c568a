import type { ShownRow } from '@hotcell/contract/api/events.ts';
import { formatBytes } from '@hotcell/contract/format.ts';
import { messageOf } from '@hotcell/contract/errors.ts';
import type { PostureForm } from '@hotcell/contract/posture.ts';
import type { OutputFile, Result } from '@hotcell/contract/result.ts';
import type { Spec } from '@hotcell/contract/spec.ts';
import type { Buckets } from '@hotcell/record/buckets.ts';
import { whyErased } from '@hotcell/record/erasures.ts';
import { headAndTail } from '@hotcell/record/head-and-tail.ts';
import { heldContent } from '@hotcell/record/held-content.ts';
import { wholePosture } from '@hotcell/record/posture-store.ts';
import { storedRows } from '@hotcell/record/run-logs.ts';
import type { ShownOutput, ShownRun } from '../report/reported-run.ts';
import { boundedLog } from './bounded-log.ts';
import { readOutput } from '../report/shown-output.ts';

/** There is a page for each run of an export, which may have thousands. */
const most = { logBytes: 64 * 1024, fileBytes: 1024 * 1024, allBytes: 4 * 1024 * 1024, files: 40 } as const;

/** All that a page of an export says of a run, from the record alone. */
export interface GatheredRun extends ShownRun {
  posture: Pick<PostureForm, 'inside' | 'outside'> | undefined;
  /** Why the log is not shown. */
  logProblem: string | undefined;
}

/** What can't be read is left out, and its place says why: the page of a damaged run is made too. */
export async function gatherRecorded(store: Buckets, result: Result, spec: Spec | undefined): Promise<GatheredRun> {
  const log: ShownRow[] = [];
  let logProblem: string | undefined;
  try {
    for await (const row of headAndTail(boundedLog(storedRows(store, result), result.logs.bytes), most.logBytes))
      log.push(row);
  } catch (error) {
    logProblem = messageOf(error);
  }
  const posture = result.posture
    ? await wholePosture(store, result.tenant, result.posture).catch(() => undefined)
    : undefined;
  return { result, spec, posture, log, logProblem, outputs: await outputsOf(store, result) };
}

async function outputsOf(store: Buckets, { tenant, run, outputs }: Result): Promise<Map<string, ShownOutput>> {
  const shown = new Map<string, ShownOutput>();
  const erased = await whyErased(store, tenant, run);
  let bytes = 0;
  for (const { path, size, sha256 } of outputs.files.slice(0, most.files)) {
    if (erased !== undefined) shown.set(path, none(erased));
    else if (size > most.fileBytes) shown.set(path, none(`larger than ${formatBytes(most.fileBytes)}`));
    else if (bytes + size > most.allBytes) shown.set(path, none('the page is full'));
    else {
      shown.set(path, await outputOf(store, tenant, { path, size, sha256 }));
      bytes += size;
    }
  }
  return shown;
}

async function outputOf(store: Buckets, tenant: string, file: OutputFile): Promise<ShownOutput> {
  const bytes = await heldContent(store, tenant, file);
  return bytes ? readOutput(file.path, bytes) : none('missing in the record, or altered');
}

const none = (why: string): ShownOutput => ({ kind: 'none', why });
