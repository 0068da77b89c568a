import { routes } from '@hotcell/contract/api/routes.ts';
import { z } from 'zod';
import { endJob, viewJob } from '../job-steps.ts';
import { jobFields, submitJob } from '../job-request.ts';
import { JobView, toldOf, unfinished } from '../job-view.ts';
import { tool } from '../tool.ts';
import { waitSeconds } from './wait-bound.ts';

export const aRun = z.string().describe('the id of a run');
export const reads = { readOnlyHint: true, openWorldHint: false };

export const submitJobTool = tool({
  name: 'submit_job',
  title: 'Submit a job and come back for it',
  describe: () =>
    'Accepts a job of one or more code blocks and answers its id at once. The blocks run in order in one fresh cell, as run_code describes it, and stop at the first that fails. An accepted job ends in exactly one result.',
  input: z.strictObject({
    blocks: z.array(z.strictObject({ language: z.string(), code: z.string() })).min(1),
    ...jobFields,
  }),
  output: JobView,
  hints: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false },
  act: async ({ api, signal }, { blocks, ...fields }) => {
    const { run, warnings } = await submitJob(api, blocks, fields);
    // A caller who is gone never learns its id, and may ask again.
    if (signal.aborted && fields.idempotencyKey === undefined)
      await endJob(api, run, 'the caller of submit_job took its call back');
    return unfinished({ run, status: 'queued', warnings });
  },
});

export const getJob = tool({
  name: 'get_job',
  title: 'Look at a job',
  describe: () => 'Says how far a job is, or how it ended, what it printed and which files it left.',
  input: z.strictObject({ run: aRun }),
  output: JobView,
  hints: reads,
  act: async ({ api, signal }, { run }) => toldOf(await viewJob(api, { run, seconds: 0, signal })),
});

export const waitJob = tool({
  name: 'wait_job',
  title: 'Wait for a job',
  describe: () => 'Waits until a job has ended, at most for waitSeconds, and answers the same as get_job.',
  input: z.strictObject({ run: aRun, waitSeconds }),
  output: JobView,
  hints: reads,
  act: async ({ api, signal, tell }, { run, waitSeconds: seconds }) =>
    toldOf(await viewJob(api, { run, seconds, signal, tell })),
});

export const cancelJob = tool({
  name: 'cancel_job',
  title: 'Cancel a job',
  describe: () => 'Ends a job at whatever stage it is. What it printed until then is kept.',
  input: z.strictObject({ run: aRun, reason: z.string().max(1000).optional() }),
  output: JobView,
  hints: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
  act: async ({ api, signal }, { run, reason }) => {
    const json = reason === undefined ? {} : { reason };
    const told = toldOf(await api.call(routes.cancelRun, { params: { run }, json, signal }));
    // That the job was cancelled is what was asked for.
    return { ...told, failed: false };
  },
});
