import { z } from 'zod';
import { Digest } from './digest.ts';

export const ImageName = z.string().regex(/^[a-z0-9][a-z0-9-]{0,62}$/, 'must be 1 to 63 of a-z, 0-9 and -');
export type ImageName = z.infer<typeof ImageName>;

/** `cell`: runs may name it. `service`: Hotcell's own processes use it. `part`: other images are made from it. */
export const ImageKind = z.enum(['cell', 'service', 'part']);
export type ImageKind = z.infer<typeof ImageKind>;

/** One image that was built here. */
export const LockedImage = z.strictObject({
  /** The content-addressed tag: the same recipe on the same base gets the same tag in every engine. */
  ref: z.string().min(1).max(256),
  /** The engine's id of the image: a cell is made from this, even if the tag moved since. */
  digest: Digest,
  kind: ImageKind.default('cell'),
  /** The sha256 of its package list, `images/<name>.packages.json` beside the lock. */
  packages: Digest.optional(),
  /** The base of an image made with `image build`. */
  from: z.strictObject({ name: z.string(), digest: Digest }).optional(),
  /** The sha256 of each file, for an image that is unpacked from the engine. */
  files: z.record(z.string(), Digest).optional(),
});
export type LockedImage = z.infer<typeof LockedImage>;

/** `images.lock`, written by every build: image names and their digests in this installation. */
export const ImagesLock = z.record(ImageName, LockedImage);
export type ImagesLock = z.infer<typeof ImagesLock>;
