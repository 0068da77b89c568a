import { manifestOf } from '@hotcell/contract/snapshot.ts';
import { committedAttempt, type Result } from '@hotcell/contract/result.ts';
import { recordKeys } from '../layout.ts';
import { type Asked, effectiveOf } from './read-asked.ts';
import type { Look } from './verification.ts';
import { verifyInput } from './verify-input.ts';
import { verifyWorkspace } from './verify-workspace.ts';

/** Everything that the record holds under a digest that was signed. */
export async function verifyContents(look: Look, result: Result, asked: Asked): Promise<void> {
  const { tenant, run, inputs } = result;
  const effective = effectiveOf(result, asked);
  if (effective?.packages) await look.matches(recordKeys.image(effective.packages), effective.packages);
  for (const digest of new Set(Object.values(effective?.seccomp ?? {})))
    await look.matches(recordKeys.seccomp(digest), digest);
  if (effective?.preload) await look.matches(recordKeys.preload(effective.preload.digest), effective.preload.digest);
  for (const input of inputs) await verifyInput(look, tenant, input);
  const attempt = committedAttempt(result);
  if (result.logs.sha256 && !attempt)
    look.findings.add('INCONSISTENT', `${recordKeys.result(tenant, run)}: logs`, 'an attempt that left a log', 'none');
  if (result.logs.sha256 && attempt) await look.matches(recordKeys.log(tenant, run, attempt), result.logs.sha256, true);
  await verifyOutputs(look, result);
  await verifyWorkspace(look, result);
}

async function verifyOutputs(look: Look, { tenant, run, outputs }: Result): Promise<void> {
  const { snapshot, files } = outputs;
  if (snapshot === null) return;
  const listed = manifestOf(files).id;
  if (listed !== snapshot)
    return look.findings.add('INCONSISTENT', `${recordKeys.result(tenant, run)}: outputs`, snapshot, listed);
  await look.matches(recordKeys.manifest(tenant, snapshot), snapshot, true);
  if (!look.of.contents) return;
  for (const { sha256 } of files) await look.matches(recordKeys.cas(tenant, sha256), sha256, true);
}
