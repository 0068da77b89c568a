import { z } from 'zod';
import type { Effective } from '../admission.ts';
import type { Issue } from '../errors.ts';
import type { LimitName } from '../limits.ts';
import type { LimitRule, Policy } from '../policy.ts';

const count = (most: number) => z.number().int().min(1).max(most, `must be at most ${most}`);
const day = 86_400;

/** What a policy lets a session have, beside the limits of its runs. Without it there are no sessions. */
export const SessionRule = z.strictObject({
  steps: count(1000).describe('how many steps a session can have'),
  idleSeconds: count(day).describe('how long it may wait for its next step; then it ends'),
  stepSeconds: count(day).describe('the longest time of one step'),
  lifetimeSeconds: count(7 * day).describe('the longest time from its first step’s turn to its end'),
  memoryBytes: z.number().int().min(1).optional().describe('the most memory, where that is less than a run may have'),
});
export type SessionRule = z.infer<typeof SessionRule>;

/** What a session asks for; the spec has them as they are in force. */
export const SessionTerms = z.strictObject({ steps: z.number().int().min(1), idleSeconds: z.number().int().min(1) });
export type SessionTerms = z.infer<typeof SessionTerms>;

export const AskedTerms = SessionTerms.partial();
export type AskedTerms = z.infer<typeof AskedTerms>;

/** A session's limits: its lifetime and its steps' time stand in the place of a run's and a block's. */
export function limitsOfSession(limits: Policy['limits'], rule: SessionRule): Policy['limits'] {
  const upTo = (name: LimitName, most: number): LimitRule => {
    const { min } = limits[name];
    const max = Math.max(min, most);
    return { min, default: max, max };
  };
  const memory = limits.memoryBytes;
  const most = Math.max(memory.min, Math.min(memory.max, rule.memoryBytes ?? memory.max));
  return {
    ...limits,
    timeoutSeconds: upTo('timeoutSeconds', rule.lifetimeSeconds),
    blockTimeoutSeconds: upTo('blockTimeoutSeconds', rule.stepSeconds),
    memoryBytes: { ...memory, default: Math.min(memory.default, most), max: most },
  };
}

/** The terms that are in force, or why they can't be. */
export function judgeTerms(asked: AskedTerms, { name, sessions }: Policy): { terms: SessionTerms; issues: Issue[] } {
  const most = sessions ?? { steps: 1, idleSeconds: 1 };
  const issues = (['steps', 'idleSeconds'] as const).flatMap((field) => {
    const value = asked[field];
    if (value === undefined || value <= most[field]) return [];
    const message = `is ${value}, and the policy ${name} allows at most ${most[field]}. Ask for less.`;
    return [{ path: `session.${field}`, message }];
  });
  return {
    terms: { steps: asked.steps ?? most.steps, idleSeconds: asked.idleSeconds ?? most.idleSeconds },
    issues,
  };
}

/** How many bytes the interpreter of a session may display in all. */
export function displayedBytes({ limits }: Pick<Effective, 'limits'>): number {
  return Math.min(limits.outputBytes, 64 * 1024 ** 2);
}
