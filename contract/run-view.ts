import { z } from 'zod';
import { Digest } from './digest.ts';
import { RunId, TenantName } from './names.ts';
import { Result, RunStatus } from './result.ts';
import { Labels, Requester } from './spec.ts';

/** Why a run is not further, and how many are before it. */
export const Waiting = z.strictObject({
  code: z.string(),
  message: z.string(),
  position: z.number().int().min(0).nullable(),
});
export type Waiting = z.infer<typeof Waiting>;

/** How far a run is that has no result yet: what its spec says, and what is known of it at the moment. */
export const UnfinishedRun = z.strictObject({
  run: RunId,
  tenant: TenantName,
  status: RunStatus.exclude(['finished']),
  waiting: Waiting.optional(),
  acceptedAt: z.iso.datetime(),
  spec: Digest,
  policy: Result.shape.policy,
  image: Result.shape.image,
  runtime: Result.shape.runtime,
  inputs: Result.shape.inputs,
  labels: Labels,
  requester: Requester,
  warnings: z.array(z.string()),
});
export type UnfinishedRun = z.infer<typeof UnfinishedRun>;

/** What the API and `show` say of a run. */
export const RunView = z.union([Result, UnfinishedRun]);
export type RunView = z.infer<typeof RunView>;
