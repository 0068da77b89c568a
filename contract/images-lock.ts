import { z } from 'zod';
import { Digest } from './digest.ts';

export const ImageName = z
  .string()
  .regex(/^[a-z0-9][a-z0-9-]{0,62}$/, 'an image is named by 1 to 63 of a-z, 0-9 and -, as in `./hotcell image ls`');
export type ImageName = z.infer<typeof ImageName>;

/** `cell`: runs may name it. `service`: Hotcell's own processes. `part`: others are made from it. */
export const ImageKind = z.enum(['cell', 'service', 'part']);
export type ImageKind = z.infer<typeof ImageKind>;

/** One image that was built here: how the engine knows it, and what was found in it. */
export const LockedImage = z.strictObject({
  /** The content-addressed tag: the same recipe on the same base has the same one in every engine. */
  ref: z.string().min(1).max(256),
  /** The engine's id of it: what a cell is made from, whatever the tag says by then. */
  digest: Digest,
  kind: ImageKind.default('cell'),
  /** The sha256 of the list of its packages, `images/<name>.packages.json` beside the lock. */
  packages: Digest.optional(),
  /** Of an image made with `image build`: what it was made from. */
  from: z.strictObject({ name: z.string(), digest: Digest }).optional(),
  /** Of an image that is taken out of the engine for use: each file's sha256. */
  files: z.record(z.string(), Digest).optional(),
});
export type LockedImage = z.infer<typeof LockedImage>;

/** `images.lock`, written by every build: which digest a name of an image means in this installation. */
export const ImagesLock = z.record(ImageName, LockedImage);
export type ImagesLock = z.infer<typeof ImagesLock>;
