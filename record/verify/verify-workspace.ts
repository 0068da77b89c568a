import { messageOf } from '@hotcell/contract/errors.ts';
import { readManifest } from '@hotcell/contract/snapshot.ts';
import type { Result } from '@hotcell/contract/result.ts';
import { canonical } from '@hotcell/contract/digest.ts';
import { workspaceChanges } from '@hotcell/contract/workspace-changes.ts';
import { recordKeys } from '../layout.ts';
import { isStoreAway } from './store-away.ts';
import type { Look } from './verification.ts';
import { verifyInput } from './verify-input.ts';

/** The snapshots at the start and at the end, every byte of them, and whether the difference is the one that is told. */
export async function verifyWorkspace(look: Look, { tenant, run, workspace }: Result): Promise<void> {
  if (!workspace) return;
  const { before, after, locations } = workspace;
  await verifyInput(look, tenant, { name: 'workspace', snapshot: before, locations });
  if (after === null) return;
  const key = recordKeys.manifest(tenant, after);
  if (!(await look.matches(key, after, true))) return;
  const start = await look.whole(recordKeys.manifest(tenant, before));
  const end = await look.whole(key, true);
  if (!start || !end) return;
  const told = `${recordKeys.result(tenant, run)}: workspace`;
  try {
    const files = readManifest(end.toString('utf8'), after);
    const bytes = files.reduce((sum, { size }) => sum + size, 0);
    const changes = workspaceChanges(readManifest(start.toString('utf8'), before), files);
    const [expected, found] = [
      canonical({ files: files.length, bytes, changes }),
      canonical({ files: workspace.files, bytes: workspace.bytes, changes: workspace.changes }),
    ];
    if (expected !== found) look.findings.add('INCONSISTENT', told, expected.slice(0, 300), found.slice(0, 300));
    // An export has them with the bytes of inputs.
    if (look.of.contents !== true) return;
    for (const digest of new Set(files.map(({ sha256 }) => sha256)))
      await look.matches(recordKeys.cas(tenant, digest), digest, true);
  } catch (error) {
    if (isStoreAway(error)) throw error;
    look.findings.add('INCONSISTENT', told, 'two manifests that can be read', messageOf(error).slice(0, 300));
  }
}
