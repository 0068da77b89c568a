import { z } from 'zod';
import { CellBeat, RefusedTicket, WorkerBeat } from '../heartbeats.ts';
import { answerObject, answerSchema, jsonAnswer, ndjson, tagged } from './route.ts';

const Worker = answerSchema('Worker', WorkerBeat.extend({ cells: z.array(answerSchema('Cell', CellBeat)) }));
const Workers = answerObject('Workers', {
  workers: z.array(Worker),
  refusedTickets: z.strictObject({ count: z.number().int(), last: z.array(RefusedTicket) }),
});

export type Workers = z.infer<typeof Workers>;

/** How many runs the record has. */
export const Rebuilt = answerObject('Rebuilt', { runs: z.number().int() });
export type Rebuilt = z.infer<typeof Rebuilt>;

const route = tagged('workers');

export const workerRoutes = {
  listWorkers: route('GET /v1/workers', 'operator', 'List workers, their cells, and the tickets they refused', {
    answers: { 200: jsonAnswer('the workers', Workers) },
  }),
  drainWorker: route('POST /v1/workers/{name}/drain', 'operator', 'Let a worker finish its runs and take no more', {
    params: z.strictObject({ name: z.string() }),
    answers: {
      202: jsonAnswer('draining', answerObject('DrainedWorker', { worker: z.string(), state: z.literal('draining') })),
    },
    problems: [404],
  }),
  resumeWorker: route('POST /v1/workers/{name}/resume', 'operator', 'Let a drained worker take runs again', {
    params: z.strictObject({ name: z.string() }),
    answers: {
      202: jsonAnswer('ready', answerObject('ResumedWorker', { worker: z.string(), state: z.literal('ready') })),
    },
    problems: [404],
  }),
  rebuild: route('POST /v1/rebuild', 'operator', 'Rebuild the queue and the lists from the buckets', {
    description: 'NDJSON: one line when it is done; empty lines until then keep the connection alive.',
    answers: { 200: { description: 'rebuilt', content: { [ndjson]: Rebuilt } } },
  }),
};
