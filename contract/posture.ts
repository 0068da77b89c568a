import { z } from 'zod';

/** The isolation that a cell really has: what the kernel told a child of init that is set up exactly like a block. */
export const PostureFacts = z.record(
  z.string().max(128),
  z.union([z.string(), z.number(), z.boolean(), z.array(z.string())]),
);
export type PostureFacts = z.infer<typeof PostureFacts>;

export const Posture = z.strictObject({
  /** From inside, read by our static program; under gVisor it is what the sentry says. */
  inside: PostureFacts,
  /** From outside: the engine's inspection of the created container. */
  outside: PostureFacts,
  /** How much this proves on this runtime, in a sentence. */
  worth: z.string(),
});
export type Posture = z.infer<typeof Posture>;
