import { z } from 'zod';
import { Digest } from './digest.ts';

/** What is in an image, found by reading its files: nothing of the image is executed. */
export const Findings = z.strictObject({
  packages: z.array(z.strictObject({ kind: z.string(), name: z.string(), version: z.string() })),
  setuid: z.array(z.string()),
  capabilities: z.array(z.string()),
  compilers: z.array(z.string()),
  networkClients: z.array(z.string()),
  shells: z.array(z.string()),
  interpreters: z.array(z.string()),
  files: z.number().int().min(0),
  bytes: z.number().int().min(0),
});
export type Findings = z.infer<typeof Findings>;

/** `images/<name>.packages.json` beside the lock. */
export const ImageReport = z.strictObject({ name: z.string(), ref: z.string(), digest: Digest, ...Findings.shape });
export type ImageReport = z.infer<typeof ImageReport>;
