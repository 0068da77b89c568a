import { z } from 'zod';
import { endJob, waitForJob } from '../job-steps.ts';
import { jobFields, submitJob } from '../job-request.ts';
import { JobView, toldOf, unfinished } from '../job-view.ts';
import { tool } from '../tool.ts';
import { waitSeconds } from './wait-bound.ts';

export const runCode = tool({
  name: 'run_code',
  title: 'Run code in a sealed cell',
  describe: ({ cell }) =>
    [
      'Runs code in a fresh sealed cell and answers how it ended, what it printed and which files it left.',
      'A run that takes longer than the wait goes on: the answer has its id for wait_job. Taking the call back ends the run.',
      cell ?? 'list_policies says what a cell has and has not.',
    ].join(' '),
  input: z.strictObject({
    code: z.string().describe('the whole program: nothing of an earlier call is there'),
    language: z.string().default('python'),
    ...jobFields,
    waitSeconds,
  }),
  output: JobView,
  hints: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false },
  act: async ({ api, signal, tell }, { code, language, waitSeconds: seconds, ...fields }) => {
    const { run, warnings } = await submitJob(api, [{ language, code }], fields);
    try {
      const view = await waitForJob(api, { run, seconds, signal, tell });
      return view ? toldOf(view) : unfinished({ run, status: 'queued', warnings });
    } catch (error) {
      // Its caller never learned the id, so that only we can end it. With a key of its own it can ask for the run again.
      if (signal.aborted && fields.idempotencyKey === undefined)
        await endJob(api, run, 'the caller of run_code took its call back');
      throw error;
    }
  },
});
