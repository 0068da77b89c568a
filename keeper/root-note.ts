import { Digest } from '@hotcell/contract/digest.ts';
import { z } from 'zod';

/** What stands beside an image's unpacked root. It is written last: a root without it does not exist. */
export const RootNote = z.strictObject({
  image: Digest,
  /** The digest of the tree's listing: every path with its mode, owner, size and content. */
  tree: Digest,
  entries: z.int(),
  env: z.record(z.string(), z.string()),
  /** Why no cell can use the image; null if cells can. */
  refused: z.string().nullable(),
});
export type RootNote = z.infer<typeof RootNote>;
