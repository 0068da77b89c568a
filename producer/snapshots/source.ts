import { Digest } from '@hotcell/contract/digest.ts';
import { HotcellError } from '@hotcell/contract/errors.ts';
import { type NameVersion, readNameVersion, RunId, SnapshotName } from '@hotcell/contract/names.ts';

/** What an input's source says, told apart by its form alone. */
export type SourceForm =
  | { kind: 'id'; id: Digest }
  | { kind: 'name'; name: string }
  | ({ kind: 'version' } & NameVersion)
  | { kind: 'outputs' | 'workspace'; run: RunId }
  | { kind: 's3'; bucket: string; prefix: string };

export function sourceForm(source: string): SourceForm {
  if (source.startsWith('sha256:')) {
    const id = Digest.safeParse(source);
    if (id.success) return { kind: 'id', id: id.data };
    throw new HotcellError(
      'invalid',
      `${source} is not a snapshot id. A snapshot id is sha256: and 64 lowercase hex digits.`,
    );
  }
  const s3 = /^s3:\/\/([^/]+)\/?(.*)$/s.exec(source);
  if (s3) return { kind: 's3', bucket: s3[1] ?? '', prefix: s3[2] ?? '' };
  const kind = source.endsWith(':outputs') ? 'outputs' : source.endsWith(':workspace') ? 'workspace' : undefined;
  if (kind) {
    const run = RunId.safeParse(source.slice(0, -kind.length - 1));
    if (run.success) return { kind, run: run.data };
    throw new HotcellError('invalid', `${source} does not name a run. Write RUN:${kind} with the run's id.`);
  }
  if (SnapshotName.safeParse(source).success) return { kind: 'name', name: source };
  const version = readNameVersion(source);
  if (version) return { kind: 'version', ...version };
  if (source.includes('@') && !source.includes('/'))
    throw new HotcellError(
      'invalid',
      `${JSON.stringify(source)} names no version. Write NAME@3, NAME@{2026-11-01} or NAME@{2026-11-01T08:00:00Z}.`,
    );
  throw new HotcellError(
    'invalid',
    `${JSON.stringify(source)} is not a snapshot's id or name, RUN:outputs or s3://bucket/prefix. The API can't read local paths. Upload the files first.`,
  );
}
