import { type Digest, hexOf } from '@hotcell/contract/digest.ts';
import type { KeyRole } from '@hotcell/contract/evidence/key-list.ts';
import { RunId, TenantName } from '@hotcell/contract/names.ts';
import { parseKept } from '@hotcell/contract/parse.ts';
import { committedAttempt, Result } from '@hotcell/contract/result.ts';
import { z } from 'zod';
import { recordKeys } from '../layout.ts';

/** Says what an export has. Nothing signs it: a verifier believes it in nothing but where to look. */
export const ExportIndex = z.strictObject({
  version: z.literal(1),
  /** Whose bytes are in the export too, and not only their lists. */
  contents: z.strictObject({ inputs: z.boolean(), outputs: z.boolean() }),
  runs: z.array(z.strictObject({ tenant: TenantName, run: RunId })),
});
export type ExportIndex = z.infer<typeof ExportIndex>;

export interface ExportedRun {
  tenant: string;
  run: RunId;
}

/** Where things stand in an export. What several runs name by digest stands where the record has it, once. */
export const exportPaths = {
  index: 'export.json',
  guide: 'VERIFY.md',
  page: 'report.html',
  key: (role: KeyRole, fingerprint: Digest) => `keys/${role}-${hexOf(fingerprint)}.pem`,
  run: (run: RunId) => `runs/${run}/`,
  runPage: (run: RunId) => `runs/${run}/report.html`,
  attested: (run: RunId) => `runs/${run}/result.json`,
  committed: (run: RunId) => `runs/${run}/committed.json`,
  manifest: (run: RunId) => `runs/${run}/outputs.manifest.json`,
  outputs: (run: RunId) => `runs/${run}/outputs/`,
  /** What else the record has of a run, such as attempts that did not count. */
  rest: (run: RunId) => `runs/${run}/record/`,
} as const;

/** What stands in a run's own folder under a name that a person looks for: by its key in the record. */
export function ownPaths({ tenant, run }: ExportedRun, result: Result | undefined): Map<string, string> {
  const folder = exportPaths.run(run);
  const paths = new Map([
    [recordKeys.result(tenant, run), exportPaths.committed(run)],
    [recordKeys.spec(tenant, run), `${folder}spec.json`],
  ]);
  if (!result) return paths;
  const { evidence, policy, outputs, posture } = result;
  const attempt = committedAttempt(result);
  if (evidence?.bundle.startsWith(recordKeys.run(tenant, run)) && !paths.has(evidence.bundle))
    paths.set(evidence.bundle, `${folder}evidence.sigstore.json`);
  if (attempt) paths.set(recordKeys.log(tenant, run, attempt), `${folder}log.ndjson.zst`);
  if (policy) paths.set(recordKeys.policy(policy.digest), `${folder}policy.json`);
  if (outputs.snapshot) paths.set(recordKeys.manifest(tenant, outputs.snapshot), exportPaths.manifest(run));
  if (posture?.digest) paths.set(recordKeys.posture(tenant, posture.digest), `${folder}posture.json`);
  return paths;
}

/** The place of any object of the record in the export of a run. */
export function pathOf(key: string, { tenant, run }: ExportedRun, own: ReadonlyMap<string, string>): string {
  const prefix = recordKeys.run(tenant, run);
  return own.get(key) ?? (key.startsWith(prefix) ? `${exportPaths.rest(run)}${key.slice(prefix.length)}` : key);
}

/** From a result that was altered nothing follows; it is copied and verified as it stands. */
export function resultIn(bytes: Buffer, { tenant, run }: ExportedRun): Result | undefined {
  try {
    const result = parseKept(Result, bytes.toString('utf8'), 'the result', 'record_damaged').value;
    return result.run === run && result.tenant === tenant ? result : undefined;
  } catch {
    return undefined;
  }
}
