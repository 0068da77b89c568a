import { routes } from '@hotcell/contract/api/routes.ts';
import type { StepView } from '@hotcell/contract/api/sessions.ts';
import { type ErrorCode, HotcellError } from '@hotcell/contract/errors.ts';
import type { StepRequest } from '@hotcell/contract/session/step.ts';
import type { Api } from './api.ts';
import { refusedUnder } from './failure.ts';
import { type TellProgress, waitTelling } from './wait-telling.ts';
import { submitOnce } from './submit-once.ts';

interface Step {
  run: string;
  json: StepRequest;
  idempotencyKey?: string | undefined;
}

interface Wait {
  run: string;
  step: number;
  seconds: number;
  signal: AbortSignal;
  tell: TellProgress | undefined;
}

/** Not taken back with the call: between asking and the answer, only the API knows whether there is a step. */
export async function addStep(api: Api, { run, json, idempotencyKey }: Step): Promise<StepView> {
  try {
    return await submitOnce({ idempotencyKey }, (headers) =>
      api.call(routes.addStep, { params: { run }, json, headers }),
    );
  } catch (error) {
    if (!(error instanceof HotcellError)) throw error;
    if (error.code === 'policy_refused') throw refusedUnder(error, await policyOf(api, run));
    throw withNext(error);
  }
}

/** The step at its end, or as it is after the wait; undefined if it was recorded and can't be asked about now. */
export async function waitForStep(api: Api, { run, step, seconds, signal, tell }: Wait): Promise<StepView | undefined> {
  const ask = async (slice: number) => {
    const headers: Record<string, string> = slice > 0 ? { prefer: `wait=${slice}` } : {};
    return await api.call(routes.getStep, { params: { run, step }, headers, signal });
  };
  const isOver = ({ status }: StepView) => status === 'finished';
  const says = ({ status }: StepView) => `step ${step} of ${run} is ${status}`;
  try {
    return await waitTelling({ seconds, tell, ask, isOver, says });
  } catch (error) {
    if (error instanceof HotcellError && error.retryable) return undefined;
    throw error;
  }
}

/** A step that is over, or has not begun, is left as it is. */
export async function interruptStep(api: Api, run: string, step: number): Promise<void> {
  try {
    await api.call(routes.interruptStep, { params: { run, step } });
  } catch (error) {
    if (!(error instanceof HotcellError && error.status === 409)) throw error;
  }
}

/** Only makes an error more helpful, so the error stands without it, too. */
async function policyOf(api: Api, run: string): Promise<string | undefined> {
  const session = await api.call(routes.getRun, { params: { run } }).catch(() => undefined);
  return session?.policy?.name;
}

const nexts: { readonly [code in ErrorCode]?: string } = {
  finished_already: 'Call get_job with this run to see why the session ended, or open_session to start another one.',
  not_found: 'Pass the run that open_session answered.',
};

function withNext(error: HotcellError): HotcellError {
  const { code, message, issues, extra } = error;
  const next = nexts[code];
  if (next === undefined) return error;
  return new HotcellError(code, message, { issues: [...issues, { path: 'run', message: next }], cause: error, extra });
}
