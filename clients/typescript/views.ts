import { LogRow } from '@hotcell/contract/log-rows.ts';
import type { Result } from '@hotcell/contract/result.ts';
import { RunStatus } from '@hotcell/contract/result.ts';
import type { UnfinishedRun } from '@hotcell/contract/api/runs.ts';
import { z } from 'zod';

/**
 * What a client needs to understand of an answer; members that a newer API adds are let through. The API itself checked
 * every record against its full schema when it read it.
 */
const Finished = z.looseObject({ run: z.string(), status: z.literal('finished'), outcome: z.string() });
const Unfinished = z.looseObject({ run: z.string(), status: RunStatus.exclude(['finished']) });

const AnyResult = z.custom<Result>((value) => Finished.safeParse(value).success, 'this is no result');
export const AnyView = z.union([
  AnyResult,
  z.custom<UnfinishedRun>((value) => Unfinished.safeParse(value).success, 'this is no run'),
]);

export const Accepted = z.looseObject({
  run: z.string(),
  status: z.string(),
  warnings: z.array(z.string()).default([]),
});
export type Accepted = z.infer<typeof Accepted>;

export const RunEvent = z.discriminatedUnion('type', [
  z.looseObject({ type: z.literal('status'), status: RunStatus, reason: z.string().optional() }),
  z.looseObject({ type: z.literal('log'), ...LogRow.shape }),
  z.looseObject({ type: z.literal('result'), result: AnyResult }),
]);
export type RunEvent = z.infer<typeof RunEvent>;

export function isFinished(view: { status: string }): view is Result {
  return view.status === 'finished';
}
