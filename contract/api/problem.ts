import { z } from 'zod';
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
      errors: z.array(z.strictObject({ path: z.string(), message: z.string() })),
      requestId: z.string(),
      retryable: z.boolean(),
    })
    .describe('RFC 9457: what went wrong, where, and whether trying again may help'),
);
export type Problem = z.infer<typeof Problem>;
