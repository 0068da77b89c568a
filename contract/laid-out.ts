import { messages } from './admission-messages.ts';
import type { Candidate, Refuse } from './admission-rules.ts';
import { bytesOfFile, resolveBlocks } from './blocks.ts';
import type { Limits } from './limits.ts';
import { roundedUp, smallestPageBytes } from './page.ts';
import type { Policy } from './policy.ts';

export const inPages = (bytes: number) => roundedUp(bytes, smallestPageBytes);

/**
 * What the cell itself puts into /work: bundled files and the code of each block, which no block can remove, and the
 * folders on the way to them.
 */
export function laidOut({ blocks, files }: Pick<Candidate, 'blocks' | 'files'>, policy: Policy) {
  const code = blocks.flatMap((block) => ('code' in block ? [Buffer.byteLength(block.code)] : []));
  const bytes = [...code, ...files.map(bytesOfFile)].reduce((sum, size) => sum + inPages(size), 0);
  const { resolved } = resolveBlocks(blocks, files, policy.languages);
  // The first is /work itself.
  const folders = new Set(['']);
  for (const path of [...files.map((file) => file.path), ...resolved.flatMap(({ file }) => file ?? [])])
    for (let cut = path.indexOf('/'); cut > 0; cut = path.indexOf('/', cut + 1)) folders.add(path.slice(0, cut));
  return { bytes, inodes: code.length + files.length + folders.size };
}

/** A run whose own files don't fit into its /work would fail in every cell. */
export function judgeLaidOut(candidate: Candidate, limits: Limits, policy: Policy, refuse: Refuse): void {
  const { bytes, inodes } = laidOut(candidate, policy);
  if (bytes > inPages(limits.scratchBytes))
    refuse('scratch.bytes', 'limits.scratchBytes', messages.laidOut(policy, 'scratchBytes', bytes, limits));
  if (inodes > limits.scratchInodes)
    refuse('scratch.inodes', 'limits.scratchInodes', messages.laidOut(policy, 'scratchInodes', inodes, limits));
}
