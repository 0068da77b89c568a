import assert from 'node:assert/strict';
import { z } from 'zod';

const Problem = z.looseObject({
  status: z.number(),
  code: z.string(),
  detail: z.string(),
  errors: z.array(z.object({ path: z.string(), message: z.string() })),
  requestId: z.string(),
  retryable: z.boolean(),
});

/** The body of a refusal, after checking the form that all refusals have. */
export async function problemOf(answer: Response): Promise<z.output<typeof Problem>> {
  assert.match(answer.headers.get('content-type') ?? '', /^application\/problem\+json/);
  const problem = Problem.parse(await answer.json());
  assert.equal(problem.status, answer.status);
  assert.equal(problem.requestId, answer.headers.get('x-request-id'));
  return problem;
}
