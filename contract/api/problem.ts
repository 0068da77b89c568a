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

/** The title of a problem with this status, and what the status means of any route. */
export const problemStatuses: Readonly<Record<number, { title: string; means: string }>> = {
  400: { title: 'Not valid', means: 'Not valid: every field is named with its reason.' },
  401: { title: 'Not authenticated', means: 'No API key, or one that is not in use.' },
  403: { title: 'Not allowed', means: 'This key may not do this.' },
  404: { title: 'Not found', means: 'Not found, or not yours.' },
  405: { title: 'Method not allowed', means: 'This address takes other methods.' },
  408: { title: 'Too slow', means: 'The body came too slowly.' },
  409: { title: 'Conflict', means: 'Not in this state.' },
  410: { title: 'Erased', means: 'The operator erased this run: its code, log and outputs are gone.' },
  413: { title: 'Too large', means: 'The body is too large.' },
  415: { title: 'Unsupported content type', means: 'The body is not of the content type that this route takes.' },
  422: { title: 'Refused', means: 'Understood and refused: every reason is in "errors".' },
  429: {
    title: 'Too many requests',
    means: 'More than there is room for, or than this tenant may have at once: try again after Retry-After.',
  },
  500: { title: 'Internal error', means: 'Our failure.' },
  503: { title: 'Not available', means: 'A part of ours does not answer: try again.' },
};
