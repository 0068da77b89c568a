import { z } from 'zod';
import { Result } from '../result.ts';
import { answerSchema, jsonAnswer, octets, tagged } from './route.ts';
import { RunParams } from './runs.ts';

const RunOutputs = answerSchema('RunOutputs', Result.shape.outputs);

const route = tagged('outputs');

export const outputRoutes = {
  listOutputs: route(
    'GET /v1/runs/{run}/outputs',
    'reader',
    'List what a run left in /outputs, and what of it was refused',
    {
      params: RunParams,
      answers: { 200: jsonAnswer('the outputs of a finished run', RunOutputs) },
      problems: [404, 409],
    },
  ),
  getOutput: route('GET /v1/runs/{run}/outputs/{path}', 'reader', 'Download one output', {
    description:
      'The path may contain slashes. The bytes are hashed on the way; a file whose bytes are not those of the result never arrives whole.',
    params: z.strictObject({ ...RunParams.shape, path: z.string().describe('its path below /outputs') }),
    answers: {
      200: {
        description: 'the bytes',
        content: { [octets]: z.string() },
        headers: {
          'Content-Disposition': 'always an attachment: a job wrote it',
          ETag: 'the sha256 digest that the result names',
          'Repr-Digest': 'the same digest, as RFC 9530 writes it',
        },
      },
    },
    problems: [404, 409, 410],
  }),
};
