import type { StepView } from '@hotcell/contract/api/sessions.ts';
import { sha256 } from '@hotcell/contract/digest.ts';
import { HotcellError } from '@hotcell/contract/errors.ts';
import { LogRow } from '@hotcell/contract/log-rows.ts';
import type { RunId } from '@hotcell/contract/names.ts';
import { parseOurs } from '@hotcell/contract/parse.ts';
import { type CodeStep, languageOf, type SessionRecord, type StepResult } from '@hotcell/contract/session/step.ts';
import { erasedOr, refuseErased } from '@hotcell/record/erasures.ts';
import { type Kept, readSession, readStep, readStepPart, readStepResult } from '@hotcell/record/session-steps.ts';
import { streamTexts } from '../logs/stream-texts.ts';
import type { Producer } from '../producer.ts';

interface OfStep {
  tenant: string;
  run: RunId;
  index: number;
}

/** A step, with what came of it as soon as it is over. */
export async function viewStep(producer: Producer, of: OfStep): Promise<StepView> {
  const { store } = producer;
  const link = await requireStep(producer, of);
  const session = await readSession(store, of.tenant, of.run);
  const ended = session && (await readStepResult(store, session, of.index));
  if (session && ended) return await finished(producer, link, session, ended.value);
  const run = await producer.news.resultOf(of.tenant, of.run);
  const chained = run?.steps?.find(({ index }) => index === of.index);
  const base = unfinished(link);
  if (run) {
    const reason = chained?.reason === undefined ? run.reason : `${chained.reason} ${run.reason}`;
    return { ...base, status: 'finished', outcome: chained?.outcome ?? null, reason };
  }
  const begun = session && (of.index === 0 || (await readStepResult(store, session, of.index - 1)) !== undefined);
  return { ...base, status: begun ? 'running' : 'queued' };
}

/** The view when the step is over, or the one of the moment in which the signal ends the wait. */
export async function waitForStep(producer: Producer, of: OfStep, signal: AbortSignal): Promise<StepView> {
  // Listening begins before reading: nothing in between is missed.
  using listener = producer.news.listenToSteps(of.run);
  for (;;) {
    const view = await viewStep(producer, of);
    if (view.status === 'finished' || signal.aborted) return view;
    await listener.next(signal);
  }
}

async function requireStep({ store }: Producer, { tenant, run, index }: OfStep): Promise<Kept<CodeStep>> {
  const link = await readStep(store, tenant, run, index);
  if (link?.value.kind === 'step') return { value: link.value, digest: link.digest };
  throw await erasedOr(store, tenant, run, new HotcellError('not_found', `Run ${run} has no step ${index}.`));
}

function unfinished({ value, digest }: Kept<CodeStep>): StepView {
  const { run, index, code, at } = value;
  return {
    run,
    index,
    status: 'queued',
    step: digest,
    code,
    language: languageOf(value),
    at,
    outcome: null,
    reason: '',
    exitCode: null,
    signal: null,
    saidBy: null,
    startedAt: null,
    finishedAt: null,
    outputs: [],
    refused: [],
  };
}

async function finished(
  producer: Producer,
  { value, digest }: Kept<CodeStep>,
  session: SessionRecord,
  result: StepResult,
): Promise<StepView> {
  const { run, index, code, language, outcome, reason, exitCode, signal, saidBy, startedAt, finishedAt } = result;
  const { error, interpreter, usage, outputs, refused } = result;
  return {
    ...{
      run,
      index,
      status: 'finished',
      step: digest,
      code,
      language,
      at: value.at,
      outcome,
      reason,
      exitCode,
      signal,
    },
    ...{ saidBy, startedAt, finishedAt, ...(error ? { error } : {}), ...(interpreter ? { interpreter } : {}) },
    ...{ usage, outputs, refused },
    ...(await streamTexts(rowsOf(producer, session, result))),
  };
}

/** The rows of a step that is over, as its result names them. */
export async function* rowsOf({ store }: Producer, session: SessionRecord, result: StepResult): AsyncGenerator<LogRow> {
  const { rows, sha256: digest } = result.log;
  if (rows) return yield* rows;
  const what = `the log of step ${result.index} of run ${session.run}`;
  const bytes = await readStepPart(store, session, { index: result.index, part: 'log' });
  if (!bytes || sha256(bytes) !== digest)
    throw new HotcellError('record_damaged', `${what} is not the one that the step's result names.`);
  for (const line of bytes.toString('utf8').split('\n'))
    if (line !== '') yield parseOurs(LogRow, line, `a row of ${what}`, 'record_damaged');
}

/** What is over, for those who want its log or one of its outputs. */
export async function requireEnded(
  producer: Producer,
  of: OfStep,
): Promise<{ session: SessionRecord; result: StepResult }> {
  await refuseErased(producer.store, of.tenant, of.run);
  await requireStep(producer, of);
  const session = await readSession(producer.store, of.tenant, of.run);
  const ended = session && (await readStepResult(producer.store, session, of.index));
  if (session && ended) return { session, result: ended.value };
  throw new HotcellError('conflict', `Step ${of.index} of run ${of.run} has not ended. Wait for it first.`);
}
