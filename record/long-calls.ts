import { canonical, type Digest, sha256 } from '@hotcell/contract/digest.ts';
import { type AttestedForm, attestedForm, committedForm } from '@hotcell/contract/evidence/attested-result.ts';
import { type AttestedRun, type SignerFacts, statementOf } from '@hotcell/contract/evidence/run-statement.ts';
import type { Result } from '@hotcell/contract/result.ts';
import { parseKept } from '@hotcell/contract/parse.ts';
import type { z } from 'zod';
import { manifestOf, readManifest, type SnapshotEntry } from '@hotcell/contract/snapshot.ts';
import { diffOf } from '@hotcell/contract/snapshot-diff.ts';
import { judgeWorkspace, type OwnFiles } from '@hotcell/contract/judge-workspace.ts';
import type { Issue } from '@hotcell/contract/errors.ts';
import type { Limits } from '@hotcell/contract/limits.ts';
import type { WorkspaceChanges } from '@hotcell/contract/workspace.ts';
import type { Policy } from '@hotcell/contract/policy.ts';
import { workspaceChanges } from '@hotcell/contract/workspace-changes.ts';
import { type NameProblem, nameProblems } from '@hotcell/contract/snapshot-names.ts';
import { objects } from './objects.ts';
import { type LocatedEntry, locationsOf, readLocations } from './snapshot-locations.ts';

/** Bytes that have a digest. */
export interface Hashed {
  bytes: Uint8Array;
  digest: Digest;
}

const textOf = (bytes: Uint8Array) => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
const jsonOf = (value: unknown) => Buffer.from(JSON.stringify(value));
/** As bytes, which change hands when a thread answers: text would be copied. */
const hashed = (text: string, digest = sha256(text)): Hashed => ({ bytes: Buffer.from(text), digest });

/** The run that is to have a workspace. */
export interface WorkspaceOf {
  own: OwnFiles;
  limits: Limits;
  policy: Pick<Policy, 'name' | 'limits'>;
}

/** What takes so long for large values that it is done in a thread: see `long-work.ts`. All are pure. */
export const longCalls = {
  /** The canonical form of a value. */
  canonical: (value: unknown): Hashed => hashed(canonical(value)),

  /** What is signed of a run's end: the result as it is attested, and the statement about it. */
  attest(run: Omit<AttestedRun, 'form'>, signer: SignerFacts): { form: AttestedForm; statement: Uint8Array } {
    const form = attestedForm(run.result);
    return { form, statement: Buffer.from(canonical(statementOf({ ...run, form }, signer))) };
  },

  commitForm: (form: Pick<AttestedForm, 'bytes' | 'gaps'>, members: Pick<Result, 'evidence' | 'receipt'>) =>
    committedForm(form, members),

  /** An object as it was read, by the name of its kind. */
  parseObject(
    kind: keyof typeof objects,
    bytes: Uint8Array,
    what: string,
  ): { value: unknown; unknown: string[]; digest: Digest } {
    const schema: z.ZodType = objects[kind].schema;
    return { ...parseKept(schema, textOf(bytes), what, 'record_damaged'), digest: sha256(bytes) };
  },

  judgeNames: (paths: readonly string[]): NameProblem[] => nameProblems(paths),

  /** The two texts of a snapshot. */
  snapshotTexts(files: readonly LocatedEntry[]): { manifest: Hashed; locations: Hashed } {
    const manifest = manifestOf(files);
    const locations = locationsOf(files);
    return { manifest: hashed(manifest.text, manifest.id), locations: hashed(locations.text, locations.digest) };
  },

  manifestBytes: (files: readonly SnapshotEntry[]): Uint8Array => Buffer.from(manifestOf(files).text),

  readManifest: (bytes: Uint8Array, id: Digest): SnapshotEntry[] => readManifest(textOf(bytes), id),

  readLocated(manifest: Uint8Array, id: Digest, locations: Uint8Array, digest: Digest): LocatedEntry[] {
    return readLocations(textOf(locations), digest, readManifest(textOf(manifest), id));
  },

  /** The files of a snapshot as JSON, for an answer. */
  entriesJson: (bytes: Uint8Array, id: Digest): Uint8Array => jsonOf(readManifest(textOf(bytes), id)),

  diffJson(before: Uint8Array, beforeId: Digest, after: Uint8Array, afterId: Digest): Uint8Array {
    return jsonOf(diffOf(readManifest(textOf(before), beforeId), readManifest(textOf(after), afterId)));
  },

  workspaceChanges(before: Uint8Array, beforeId: Digest, after: Uint8Array, afterId: Digest): WorkspaceChanges {
    return workspaceChanges(readManifest(textOf(before), beforeId), readManifest(textOf(after), afterId));
  },

  unfitWorkspace: (manifest: Uint8Array, id: Digest, { own, limits, policy }: WorkspaceOf): Issue[] =>
    judgeWorkspace(readManifest(textOf(manifest), id), own, limits, policy),
};

export type LongCalls = typeof longCalls;
