import { sha256 } from '@hotcell/contract/digest.ts';
import type { Limits } from '@hotcell/contract/limits.ts';
import { decideStep } from '@hotcell/contract/session/decide-step.ts';
import { smallText } from '@hotcell/contract/session/said.ts';
import type { StepOutput, StepResult } from '@hotcell/contract/session/step.ts';
import type { Logger } from '@hotcell/outside/process/log.ts';
import type { Buckets } from '@hotcell/record/buckets.ts';
import { patiently } from '@hotcell/record/patience.ts';
import { type Kept, type OfSession, putStepPart, putStepResult } from '@hotcell/record/session-steps.ts';
import type { RunningStep } from './running-step.ts';

/** So much of a log stands in the step's result: reading it takes no second request. */
const inlineBytes = 64 * 1024;

interface Keeping {
  store: Buckets;
  of: OfSession;
  limits: Limits;
  log: Logger;
  stopped: boolean;
}

/** All that a step left goes into the record before its result, which names it. */
export async function keepStep(step: RunningStep, keeping: Keeping): Promise<Kept<StepResult>> {
  const { store, of } = keeping;
  const { index } = step.record;
  const at = (step.finishedAt ?? new Date()).toISOString();
  const written = step.end?.logBytes ?? 0;
  const { rows, text } = step.log.finish(written, { block: index, at });
  const inline = text.length <= inlineBytes;
  const log = { sha256: sha256(text), bytes: written, ...(inline ? { rows } : {}) };
  const outputs: StepOutput[] = [];
  const put = (part: number | 'log', bytes: Buffer) =>
    patiently(keeping.log, `keep what step ${index} of ${of.run} left`, () =>
      putStepPart(store, of, { index, part }, bytes),
    );
  const puts: Promise<void>[] = inline ? [] : [put('log', Buffer.from(text))];
  for (const { kind, display, type, bytes } of step.said.forms) {
    const shown = smallText(type, bytes);
    if (shown === undefined) puts.push(put(outputs.length, bytes));
    const about = { kind, display, type, size: bytes.length, sha256: sha256(bytes) };
    outputs.push({ ...about, ...(shown === undefined ? {} : { text: shown }) });
  }
  await Promise.all(puts);
  const result = resultOfStep(step, keeping, { log, outputs });
  return await patiently(keeping.log, `keep the result of step ${index} of ${of.run}`, () =>
    putStepResult(store, of, result),
  );
}

function resultOfStep(
  step: RunningStep,
  { of: { run, tenant }, limits, stopped }: Keeping,
  kept: Pick<StepResult, 'log' | 'outputs'>,
): StepResult {
  const { record, digest, how, end, said, startedAt, finishedAt, interpreter } = step;
  const ended = end?.said ? said.ending : undefined;
  const verdict = decideStep({
    exitCode: end?.exitCode ?? null,
    signal: end?.signal ?? null,
    timedOut: end?.timedOut ?? false,
    interrupted: end?.interrupted ?? false,
    oomKills: end?.oomKills ?? 0,
    startError: end?.startError ?? null,
    wallMs: end?.wallMs ?? 0,
    said: ended,
    seconds: how.seconds,
    limits,
    inInterpreter: how.inInterpreter,
    namesLost: interpreter !== undefined && interpreter.number > 1 && !interpreter.livesOn,
    stopped,
  });
  const { wallMs = 0, cpuMs = 0, peakMemoryBytes = 0, logBytes = 0 } = end ?? {};
  const refused =
    said.leftOut > 0 ? [{ path: '(display)', reason: `${said.leftOut} displays are too large or too many` }] : [];
  return {
    version: 1,
    run,
    tenant,
    index: record.index,
    language: how.language,
    ...verdict,
    startedAt: startedAt?.toISOString() ?? null,
    finishedAt: finishedAt?.toISOString() ?? null,
    step: digest,
    code: record.code,
    ...(ended?.error ? { error: ended.error } : {}),
    ...(interpreter ? { interpreter: interpreter.number } : {}),
    usage: { wallMs, cpuMs, peakMemoryBytes, logBytes },
    ...kept,
    refused,
  };
}
