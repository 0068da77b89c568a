import { z } from 'zod';
import { Issues } from '../result.ts';
import { answerSchema } from './route.ts';

export const Problem = answerSchema(
  'Problem',
  z
    .looseObject({
      type: z.string(),
      title: z.string(),
      status: z.number().int(),
      code: z.string(),
      detail: z.string(),
      errors: Issues,
      requestId: z.string(),
      retryable: z.boolean(),
    })
    .describe('RFC 9457: what went wrong, where, and whether trying again may help'),
);
export type Problem = z.infer<typeof Problem>;
