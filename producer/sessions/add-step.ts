import { randomUUID } from 'node:crypto';
import { sha256 } from '@hotcell/contract/digest.ts';
import { HotcellError } from '@hotcell/contract/errors.ts';
import { showIssues } from '@hotcell/contract/parse.ts';
import { judgeStep } from '@hotcell/contract/session/judge-step.ts';
import { screenStep } from '@hotcell/contract/screening.ts';
import { codeOf, type StepRecord, type StepRequest } from '@hotcell/contract/session/step.ts';
import type { Block } from '@hotcell/contract/spec.ts';
import type { RunId } from '@hotcell/contract/names.ts';
import { crashPoint } from '@hotcell/outside/process/crash.ts';
import { hashedForm } from '@hotcell/record/long-work.ts';
import { putStep } from '@hotcell/record/session-steps.ts';
import type { Caller } from '../auth/caller.ts';
import type { Producer } from '../producer.ts';
import { catchUp, known, type OpenSession, type Repeat } from './open-session.ts';

export interface AskedStep {
  caller: Caller;
  run: RunId;
  body: StepRequest;
  idempotencyKey?: string | undefined;
}

/** Puts a step into the record, behind those before it, and only then nudges the worker. Answers its number. */
export async function addStep(producer: Producer, asked: AskedStep): Promise<number> {
  const { caller, run, body, idempotencyKey } = asked;
  const [session, result] = await Promise.all([
    producer.sessions.of(producer, caller.tenant, run),
    producer.news.resultOf(caller.tenant, run),
  ]);
  const repeat =
    idempotencyKey === undefined ? undefined : { key: sha256(idempotencyKey), body: (await hashedForm(body)).digest };
  if (result) return await session.turn.do(() => recall(producer, session, repeat));
  const index = await session.turn.do(() => append(producer, session, stepOf(session, asked, repeat), repeat));
  await nudge(producer, run, index);
  return index;
}

/** The end of the session is the last link of its chain: it comes after all steps that were recorded before it. */
export async function finishSession(producer: Producer, caller: Caller, run: RunId): Promise<void> {
  const session = await producer.sessions.of(producer, caller.tenant, run);
  if (session.links.at(-1)?.kind === 'finish') return;
  const link = (index: number): StepRecord => ({ ...linkOf(session, caller, index), kind: 'finish' });
  const index = await session.turn.do(() => append(producer, session, link, undefined));
  await nudge(producer, run, index);
}

const isOver = (run: RunId) =>
  new HotcellError('finished_already', `The session ${run} is over. GET /v1/runs/${run} says why. Start another one.`);

function linkOf({ tenant, run, links, spec }: OpenSession, { key, role }: Caller, index: number) {
  const before = links[index - 1]?.digest ?? spec;
  const at = new Date().toISOString();
  return { version: 1 as const, run, tenant, index, id: randomUUID(), at, requester: { key, role }, before };
}

/** Judged under its own number: what it is called follows from that. */
function stepOf(
  session: OpenSession,
  { caller, body }: AskedStep,
  repeat: Repeat | undefined,
): (index: number) => StepRecord {
  return (index) => {
    const { files = [], timeoutSeconds, ...asked } = body;
    // Its other fields are those of a block.
    const block: Block = asked;
    const { issues } = judgeStep({ index, block, files, timeoutSeconds }, session.rules);
    if (issues.length > 0)
      throw new HotcellError('policy_refused', `The step is refused: ${showIssues(issues)}`, { issues });
    const warnings = session.screening ? screenStep(block, session.rules.languages) : [];
    const more = {
      ...(timeoutSeconds === undefined ? {} : { timeoutSeconds }),
      ...(warnings.length > 0 ? { warnings } : {}),
      ...(repeat ? { repeat } : {}),
    };
    return { ...linkOf(session, caller, index), kind: 'step', block, code: codeOf(block), files, ...more };
  };
}

async function append(
  { store }: Producer,
  session: OpenSession,
  make: (index: number) => StepRecord,
  repeat: Repeat | undefined,
): Promise<number> {
  const { links, terms, run, retention } = session;
  for (;;) {
    const before = sentBefore(session, repeat);
    if (before !== undefined) return before;
    const index = links.length;
    const link = make(index);
    if (links.at(-1)?.kind === 'finish') {
      // Another producer may have been asked for the same end.
      if (link.kind === 'finish') return index - 1;
      throw isOver(run);
    }
    if (link.kind === 'step' && index >= terms.steps)
      throw new HotcellError(
        'policy_refused',
        `The session ${run} has at most ${terms.steps} steps. Start another one.`,
      );
    const stands = await putStep(store, retention, link);
    links.push(known(stands));
    crashPoint('step.recorded');
    // Another producer may have put one there first: then this one comes behind it.
    if (stands.value.id === link.id) return index;
  }
}

/** A session that is over takes no step, and still answers for those that it took: the answer may have been lost. */
async function recall(producer: Producer, session: OpenSession, repeat: Repeat | undefined): Promise<number> {
  await catchUp(producer, session);
  const before = sentBefore(session, repeat);
  if (before === undefined) throw isOver(session.run);
  return before;
}

function sentBefore({ links, run }: OpenSession, repeat: Repeat | undefined): number | undefined {
  const index = links.findIndex((link) => repeat && link.repeat?.key === repeat.key);
  if (index < 0) return undefined;
  if (links[index]?.repeat?.body === repeat?.body) return index;
  throw new HotcellError(
    'idempotency_mismatch',
    `This idempotency key was used for another step (${index} of ${run}). Use a new key, or send the same step.`,
    { extra: { run, step: index } },
  );
}

/** The worker looks by itself, a little later. */
async function nudge({ live, log }: Producer, run: RunId, index: number): Promise<void> {
  await live.step(run, index, 'recorded').catch((error: unknown) => {
    log.info({ run, error }, 'failed to tell a session’s worker of a step; it looks into the record by itself');
  });
}
