import { readFile } from 'node:fs/promises';
import { unreadable } from '@hotcell/client/file-errors.ts';
import { readReceipt, Receipt } from '@hotcell/contract/evidence/receipt.ts';
import { HotcellError } from '@hotcell/contract/errors.ts';
import type { VerifyingKey } from '@hotcell/contract/evidence/signing-key.ts';
import { parseJsonAs } from '@hotcell/contract/parse.ts';
import { RunId } from '@hotcell/contract/names.ts';
import { Buckets } from '@hotcell/record/buckets.ts';
import { verifyBatches } from '@hotcell/record/verify/batches-in.ts';
import { OpenedRecord, openOffline } from '@hotcell/record/verify/opened-record.ts';
import type { RunAt } from '@hotcell/record/verify/runs-in.ts';
import { StoreReader } from '@hotcell/record/verify/store-reader.ts';
import { trustedKeys } from '@hotcell/record/verify/trusted-keys.ts';
import { verificationBy } from '@hotcell/record/verify/verification.ts';
import { type BatchAt, findBatch, verifyBatch } from '@hotcell/record/verify/verify-batch.ts';
import { verifyPromise } from '@hotcell/record/verify/verify-promise.ts';
import { verifyAll } from '@hotcell/record/verify/verify-all.ts';
import { rootIn, trustedRoots } from '@hotcell/setup/keys/trusted-roots.ts';
import { findInstallation, settingsOf } from '@hotcell/setup/settings/installation.ts';
import type { Command } from 'commander';
import { z } from 'zod';
import { openClient } from './client.ts';
import { judgeBatchOptions } from './evidence/judge-batch-options.ts';
import { unverified } from './exit-code.ts';
import { examples, type Globals, globalsOf, printJson } from './globals.ts';
import { reporterFor } from './reporter.ts';
import { aRun, runIdNamed } from './run-ref.ts';
import { verdictTeller } from './tell-verdicts.ts';
import { aTime } from './time-option.ts';
import { VerifySummary } from './verify-summary.ts';

interface Asked {
  all?: true;
  since?: Date;
  offline?: string;
  trust?: string[];
  /** Undefined without the option: commander sets its default before a command's file is loaded. */
  contents?: false;
  explain?: true;
  receipt?: string;
}

/** It reads the record itself: what the API or a key beside the record says counts for nothing. */
export function define(command: Command): void {
  command
    .argument('[run]', `${aRun}; or the id of a batch; or --all`)
    .option('--all', 'every run and batch in the record')
    .option('--since <time>', 'with --all: what was accepted since this time, or this long ago (30m, 12h, 7d)', aTime)
    .option('--offline <path>', 'an export (its archive or folder), or a folder with a copy of the record bucket')
    .option('--trust <file...>', 'public keys of roots to trust instead of keys/trust')
    .option('--receipt <file>', 'the run of this receipt, and whether the record keeps the promise')
    .option('--explain', 'say of each run who could have altered it, what can be checked again, and what is not proven')
    .option('--no-contents', 'leave out the bytes of inputs and outputs; their lists are still checked');
  examples(command, [
    'verify RUN',
    'verify --all --since 2026-11-01T00:00:00Z',
    'verify --offline evidence.tar --trust root.pem',
  ]);
  command.action(async (said: string | undefined, asked: Asked) => {
    const globals = globalsOf(command);
    judgeAsked(said, asked);
    const reporter = reporterFor(globals);
    try {
      await using record = await openRecord(asked);
      const summary = await verifyRecord(record, globals, said, asked);
      reporter.note(summary.text);
      if (!summary.isAllValid) process.exitCode = unverified;
    } catch (error) {
      if (!(error instanceof HotcellError && error.code === 'record_damaged')) throw error;
      // No run can be judged by such a list of keys, or in such an archive: then none is valid.
      reporter.failed(error);
      process.exitCode = unverified;
    }
  });
}

async function verifyRecord(
  record: OpenedRecord,
  globals: Globals,
  said: string | undefined,
  asked: Asked,
): Promise<VerifySummary> {
  const contents = asked.contents !== false;
  const form = { json: globals.json === true, explain: asked.explain === true };
  const trusted = await trustedKeys(record.reader, await rootsOf(asked));
  const of = verificationBy(record.reader, trusted, contents);
  const batch = await batchAsked(record, said);
  if (batch) {
    judgeBatchOptions(batch.batch, asked);
    const summary = new VerifySummary(trusted);
    verdictTeller(summary, form).batch(await verifyBatch(of, batch));
    return summary;
  }
  const summary = new VerifySummary(trusted, await record.judgeFrame(trusted), contents ? record.lacks : []);
  const tell = verdictTeller(summary, form);
  if (asked.receipt === undefined) {
    const runs = await runsAsked(record, globals, said, asked);
    await verifyAll(of, runs, tell.run, async (some, at) => record.verify(some, at));
    if (said === undefined) await verifyBatches(of, record.batches(asked.since), tell.batch);
  } else {
    const receipt = await receiptIn(asked.receipt);
    tell.run(await verifyPromise(await record.only(of, readReceipt(receipt)), receipt));
  }
  if (form.json && summary.besideRuns) printJson({ beside: record.reader.name, ...summary.besideRuns });
  return summary;
}

/** One run, all of them, or that of a receipt; a copy means all of it. */
function judgeAsked(said: string | undefined, { all, offline, receipt }: Asked): void {
  const ways = [said, all, receipt].filter((way) => way !== undefined).length;
  if (ways === 1 || (ways === 0 && offline !== undefined)) return;
  throw new HotcellError('invalid', 'Name one run or batch, or give --all or --receipt FILE.');
}

/** A receipt alone, or an answer or a result that holds one. */
async function receiptIn(file: string): Promise<Receipt> {
  const holder = parseJsonAs(Holder, await readFile(file, 'utf8').catch(notRead(file)), file);
  return 'receipt' in holder ? holder.receipt : holder;
}
const Holder = z.union([Receipt, z.object({ receipt: Receipt })], { error: 'holds no receipt' });

async function openRecord({ offline }: Asked): Promise<OpenedRecord & AsyncDisposable> {
  if (offline !== undefined) return await openOffline(offline);
  const installation = await findInstallation(process.env);
  if (!installation)
    throw new HotcellError(
      'not_found',
      'There is no installation here. verify reads the record with the operator’s account: set HOTCELL_HOME, or give --offline an export or a copy of the record.',
    );
  const store = new Buckets(installation.store);
  return Object.assign(new OpenedRecord(new StoreReader(store)), {
    [Symbol.asyncDispose]: async () => store[Symbol.dispose](),
  });
}

async function rootsOf({ trust }: Asked): Promise<VerifyingKey[]> {
  const roots = trust
    ? await Promise.all(trust.map(async (file) => await rootIn(file).catch(notRead(file))))
    : await trustedRoots({ home: (await settingsOf(process.env)).home });
  if (roots.length > 0) return roots;
  throw new HotcellError('invalid', 'No root is trusted here. Give one with --trust FILE, or put it into keys/trust.');
}

/** An id of which the record has no run may be a batch's. */
async function batchAsked(record: OpenedRecord, said: string | undefined): Promise<BatchAt | undefined> {
  const id = RunId.safeParse(said);
  if (!id.success || (await record.find(id.data))) return undefined;
  return await findBatch(record.reader, id.data);
}

async function runsAsked(
  record: OpenedRecord,
  globals: Globals,
  said: string | undefined,
  { since, offline }: Asked,
): Promise<AsyncIterable<RunAt> | RunAt[]> {
  if (said === undefined) return record.runs(since);
  const run = offline === undefined ? await runIdNamed(said, () => openClient(globals)) : wholeId(said);
  const found = await record.find(run);
  if (!found)
    throw new HotcellError('not_found', `There is nothing of a run or batch ${run} in ${record.reader.name}.`);
  return [found];
}

/** A copy has no API that knows which run is the last. */
function wholeId(said: string): RunId {
  const { success, data } = RunId.safeParse(said);
  if (success) return data;
  throw new HotcellError('invalid', `${said} is not the id of a run. With --offline, give the whole id.`);
}

const notRead = (file: string) => (cause: unknown) => {
  throw cause instanceof HotcellError ? cause : unreadable(file, cause);
};
