import { routes } from '@hotcell/contract/api/routes.ts';
import { isFinished } from '@hotcell/contract/api/runs.ts';
import { HotcellError } from '@hotcell/contract/errors.ts';
import type { SessionRequest } from '@hotcell/contract/spec.ts';
import { z } from 'zod';
import { endJob, saysOf } from '../job-steps.ts';
import { jobFields } from '../job-request.ts';
import { JobView, toldOf } from '../job-view.ts';
import { waitTelling } from '../wait-telling.ts';
import { addStep, interruptStep, waitForStep } from '../step-calls.ts';
import { StepTold, toldOfStep, unfinishedStep } from '../step-told.ts';
import { submitOnce } from '../submit-once.ts';
import { tool } from '../tool.ts';
import { waitSeconds } from './wait-bound.ts';

const acts = { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false };
const aSession = z.string().describe('the id that open_session answered');

export const openSession = tool({
  name: 'open_session',
  title: 'Open a session of many steps',
  describe: () =>
    'Opens a sealed cell, as run_code describes it, that stays open: the steps of run_step share its files and, in Python, their names. It holds memory until close_session, and ends by itself when no step comes. For one program, use run_code.',
  input: z.strictObject({
    ...jobFields,
    session: z
      .strictObject({
        steps: z.number().int().min(1).optional().describe('how many steps it has at most'),
        idleSeconds: z.number().int().min(1).optional().describe('it ends by itself when no step came for so long'),
      })
      .optional(),
  }),
  output: JobView,
  hints: acts,
  act: async ({ api, signal }, { idempotencyKey, ...fields }) => {
    // Parsed by admission, whose reasons name each field.
    const json = fields as SessionRequest;
    const {
      run,
      status,
      warnings = [],
    } = await submitOnce({ idempotencyKey, policy: fields.policy }, (headers) =>
      api.call(routes.startSession, { json, headers }),
    );
    if (signal.aborted && idempotencyKey === undefined)
      await endJob(api, run, 'the caller of open_session took its call back');
    const next = 'Call run_step with this run, as often as needed, and close_session at the end.';
    return { facts: { run, status, warnings, next }, text: [...warnings, `run: ${run}`, next].join('\n') };
  },
});

export const runStep = tool({
  name: 'run_step',
  title: 'Run a step in a session',
  describe: () =>
    'Runs code as the next step of a session and answers what it printed and showed. A step of Python is like a cell of a notebook: the value of its last expression is shown, and pictures come as pictures. After a step that failed the session goes on. A step that takes longer than the wait goes on; taking the call back interrupts a step that runs.',
  input: z.strictObject({
    run: aSession,
    code: z.string().optional().describe('left out: wait again for the step that `step` names'),
    step: z.number().int().min(0).optional().describe('a step that goes on, in place of code'),
    language: z.string().default('python'),
    files: jobFields.files,
    timeoutSeconds: z.number().int().min(1).optional().describe('less time than the session gives each step'),
    idempotencyKey: jobFields.idempotencyKey.describe('the same key and the same step again are one step'),
    waitSeconds,
  }),
  output: StepTold,
  hints: acts,
  act: async ({ api, signal, tell }, { run, code, step, waitSeconds: seconds, idempotencyKey, ...fields }) => {
    if ((code === undefined) === (step === undefined))
      throw new HotcellError('invalid', 'Pass either "code", or as "step" the number of a step to wait for.');
    const json = { code: code ?? '', ...fields };
    const index = step ?? (await addStep(api, { run, json, idempotencyKey })).index;
    try {
      const view = await waitForStep(api, { run, step: index, seconds, signal, tell });
      return view ? await toldOfStep(api, view, signal) : unfinishedStep({ run, index, status: 'queued' });
    } catch (error) {
      // Its caller never learned its number, so that only we can stop it.
      if (signal.aborted && step === undefined && idempotencyKey === undefined) await interruptStep(api, run, index);
      throw error;
    }
  },
});

export const closeSession = tool({
  name: 'close_session',
  title: 'Close a session',
  describe: () =>
    'Ends a session behind the steps that were sent, and answers its result as get_job does. What is in /outputs is kept. A second call changes nothing.',
  input: z.strictObject({ run: aSession, waitSeconds }),
  output: JobView,
  hints: { ...acts, idempotentHint: true },
  act: async ({ api, signal, tell }, { run, waitSeconds: seconds }) => {
    const ask = async (slice: number) => {
      const headers: Record<string, string> = slice > 0 ? { prefer: `wait=${slice}` } : {};
      return await api.call(routes.finishSession, { params: { run }, headers, signal });
    };
    return toldOf(await waitTelling({ seconds, tell, ask, isOver: isFinished, says: saysOf }));
  },
});
