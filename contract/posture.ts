import { z } from 'zod';
import { Digest } from './digest.ts';

/** The isolation that a cell really has: what the kernel told a child of init that is set up exactly like a block. */
export const PostureFacts = z.record(
  z.string().max(128),
  z.union([z.string(), z.number(), z.boolean(), z.array(z.string())]),
);
export type PostureFacts = z.infer<typeof PostureFacts>;

const facts = {
  /** From inside, read by our static program; under gVisor it is what the sentry says. */
  inside: PostureFacts.describe('what the kernel says inside the cell; of init alone, unless all of it is asked for'),
  /** From outside: what the maker of the cell says of it. */
  outside: PostureFacts.describe(
    'what the maker of the cell says of it; its name alone, unless all of it is asked for',
  ),
  /** How much this proves on this runtime, in a sentence. */
  worth: z.string().describe('how much this proves on this runtime, in a sentence'),
};

/** What the cells of one kind have in common: stored once. A cell's own names stand in it as `{name}`. */
export const PostureForm = z.strictObject({ version: z.literal(1), ...facts });
export type PostureForm = z.infer<typeof PostureForm>;

/** A posture as it was taken. */
export type TakenPosture = Omit<PostureForm, 'version'>;

/** In a result, `inside` and `outside` have only what evidence names, and `digest` names the form. Results of older versions have it all. */
export const Posture = z.strictObject({
  digest: Digest.optional().describe('of the form: cells that are isolated alike have the same'),
  own: z
    .record(z.string().max(160), z.string().max(256))
    .optional()
    .describe('what this cell alone has, by the name that stands for it in the form'),
  given: z
    .strictObject({
      env: z
        .record(z.string().max(1024), z.string().regex(/^[0-9a-f]{64}$/, 'must be 64 lowercase hex digits'))
        .describe('each variable with the sha256 of `NAME=value`'),
    })
    .optional()
    .describe('what a cell that waited for its run was given after this posture was read'),
  ...facts,
});
export type Posture = z.infer<typeof Posture>;
