import type { StepView } from '@hotcell/contract/api/sessions.ts';
import { HotcellError } from '@hotcell/contract/errors.ts';
import type { LogRow } from '@hotcell/contract/log-rows.ts';
import type { RunId } from '@hotcell/contract/names.ts';
import { type CodeStep, languageOf, type SessionRecord, type StepResult } from '@hotcell/contract/session/step.ts';
import { erasedOr, refuseErased } from '@hotcell/record/erasures.ts';
import { rowsIn } from '@hotcell/record/run-logs.ts';
import { type Kept, openStepPart, readSession, readStep, readStepResult } from '@hotcell/record/session-steps.ts';
import { streamTexts } from '../logs/stream-texts.ts';
import type { Producer } from '../producer.ts';

interface OfStep {
  tenant: string;
  run: RunId;
  index: number;
}

interface EndedStep {
  session: SessionRecord;
  result: StepResult;
}

/** A step, with what came of it as soon as it is over. `gone`: the caller waits no more. */
export async function viewStep(producer: Producer, of: OfStep, gone: AbortSignal): Promise<StepView> {
  const { store } = producer;
  const link = await requireStep(producer, of);
  const session = await readSession(store, of.tenant, of.run);
  const ended = session && (await readStepResult(store, session, of.index));
  if (session && ended) return await finished(producer, link, { session, result: ended.value }, gone);
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
export async function waitForStep(
  producer: Producer,
  of: OfStep,
  { until, gone }: { until: AbortSignal; gone: AbortSignal },
): Promise<StepView> {
  // Listening begins before reading: nothing in between is missed.
  using listener = producer.news.listenToSteps(of.run);
  for (;;) {
    const view = await viewStep(producer, of, gone);
    if (view.status === 'finished' || until.aborted) return view;
    await listener.next(until);
  }
}

async function requireStep({ store }: Producer, { tenant, run, index }: OfStep): Promise<Kept<CodeStep>> {
  const link = await readStep(store, tenant, run, index);
  if (link?.value.kind === 'step') return { value: link.value, digest: link.digest };
  throw await erasedOr(store, tenant, run, new HotcellError('not_found', `Run ${run} has no step ${index}.`));
}

function unfinished({ value, digest }: Kept<CodeStep>): StepView {
  const { run, index, code, at, warnings } = value;
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
    ...(warnings ? { warnings } : {}),
  };
}

async function finished(
  producer: Producer,
  { value, digest }: Kept<CodeStep>,
  { session, result }: EndedStep,
  gone: AbortSignal,
): Promise<StepView> {
  const soon = AbortSignal.any([gone, AbortSignal.timeout(producer.patienceMs)]);
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
    ...(value.warnings ? { warnings: value.warnings } : {}),
    ...{ saidBy, startedAt, finishedAt, ...(error ? { error } : {}), ...(interpreter ? { interpreter } : {}) },
    ...{ usage, outputs, refused },
    ...(await streamTexts(rowsOf(producer, session, result, soon))),
  };
}

/** The rows of a step that is over, as its result names them. Those that stand beside it are a download of the tenant's. */
export async function* rowsOf(
  { bulk, doors }: Pick<Producer, 'bulk' | 'doors'>,
  session: SessionRecord,
  { index, log: { rows, sha256 } }: StepResult,
  soon: AbortSignal,
): AsyncGenerator<LogRow> {
  if (rows) return yield* rows;
  const giveBack = await doors.downloads.takeInTurn(session.tenant, 1, soon);
  try {
    const bytes = await openStepPart(bulk, session, { index, part: 'log', sha256 });
    yield* rowsIn(bytes, `the log of step ${index} of run ${session.run}`);
  } finally {
    giveBack();
  }
}

/** What is over, for those who want its log or one of its outputs. */
export async function requireEnded(producer: Producer, of: OfStep): Promise<EndedStep> {
  await refuseErased(producer.store, of.tenant, of.run);
  await requireStep(producer, of);
  const session = await readSession(producer.store, of.tenant, of.run);
  const ended = session && (await readStepResult(producer.store, session, of.index));
  if (session && ended) return { session, result: ended.value };
  throw new HotcellError('conflict', `Step ${of.index} of run ${of.run} has not ended. Wait for it first.`);
}
