import { z } from 'zod';

/** What isolation a cell really had: what the kernel told a child of init, set up exactly as a block will be. */
export const PostureFacts = z.record(
  z.string().max(128),
  z.union([z.string(), z.number(), z.boolean(), z.array(z.string())]),
);
export type PostureFacts = z.infer<typeof PostureFacts>;

export const Posture = z.strictObject({
  /** From inside, by our static program; under gVisor it is the sentry's word. */
  inside: PostureFacts,
  /** From outside: what the engine's inspection says of the container as created. */
  outside: PostureFacts,
  /** What this testimony is worth on this runtime, in a sentence. */
  worth: z.string(),
});
export type Posture = z.infer<typeof Posture>;
