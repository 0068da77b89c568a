import { z } from 'zod';
import { Digest } from './digest.ts';
import { SnapshotName } from './names.ts';
import { frameLimits } from './frames.ts';
import type { Limits } from './limits.ts';
import { snapshotLimits } from './snapshot.ts';

/**
 * A snapshot laid out writable in /work at the start of a run and frozen again at its end. It reaches the cell as an input
 * does, under a name that no input can have; init copies it from there.
 */
export const workspaceInput = '.workspace';

/** Begins with nothing. No snapshot can have this name. */
export const emptyWorkspace = '@empty';

/** In a request: as an input, or `@empty`. */
export const AskedWorkspace = {
  workspace: z
    .string()
    .min(1)
    .max(1024)
    .optional()
    .describe(
      `what lies writable in /work at the start: a snapshot’s id, name or NAME@N, RUN:outputs, RUN:workspace, or ${emptyWorkspace}`,
    ),
  workspacePublish: SnapshotName.optional().describe('name what is in /work at the end, if the run succeeds'),
};

/** In a spec: frozen to the snapshot. */
export const PinnedWorkspace = z.strictObject({
  snapshot: Digest,
  locations: Digest,
  /** As asked. */
  source: z.string().max(1024).optional(),
});

/** So many paths of a difference are named; the others are only counted. */
export const mostChangesNamed = 100;

const count = z.number().int().min(0);

export const WorkspaceChanges = z.strictObject({
  added: count,
  changed: count,
  removed: count,
  paths: z
    .array(z.strictObject({ path: z.string(), change: z.enum(['added', 'changed', 'removed']) }))
    .max(mostChangesNamed)
    .describe('the first of them'),
});
export type WorkspaceChanges = z.infer<typeof WorkspaceChanges>;

/** In a result. */
export const WorkspaceResult = z.strictObject({
  before: Digest.describe('the snapshot that was laid out'),
  locations: Digest,
  after: Digest.nullable().describe('the snapshot of what was there at the end; null if nothing was kept'),
  files: count,
  bytes: count,
  refused: z.array(z.strictObject({ path: z.string(), reason: z.string() })),
  changes: WorkspaceChanges.nullable(),
  lost: z.string().optional().describe('why nothing was kept, although the program ran'),
});
export type WorkspaceResult = z.infer<typeof WorkspaceResult>;

/** Of a run whose program did not come to its end. */
export const keptNothing = (pinned: z.infer<typeof PinnedWorkspace>): WorkspaceResult => ({
  before: pinned.snapshot,
  locations: pinned.locations,
  after: null,
  files: 0,
  bytes: 0,
  refused: [],
  changes: null,
});

/** What is staged for a run: its inputs, and its workspace under the name of its mount. */
export function stagedOf<I extends { name: string; snapshot: Digest; locations?: Digest | undefined }>(of: {
  inputs: readonly I[];
  workspace?: { snapshot: Digest; locations: Digest } | undefined;
}) {
  const { inputs, workspace } = of;
  return workspace ? [...inputs, { name: workspaceInput, ...workspace }] : [...inputs];
}

/** How much of /work is kept. The tmpfs bounds it already; sizes are apparent ones, and a file can be sparse. */
export function keptAtMost(limits: Pick<Limits, 'scratchBytes' | 'scratchInodes'>): { bytes: number; files: number } {
  return { bytes: limits.scratchBytes, files: Math.min(limits.scratchInodes, snapshotLimits.files) };
}

/** Longer or deeper paths are refused by the collector: none is laid out that it would refuse. */
export const workspacePaths = { bytes: frameLimits.pathBytes, parts: frameLimits.outputDepth } as const;
