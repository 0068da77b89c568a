import assert from 'node:assert/strict';
import { readResult } from '@hotcell/record/commit.ts';
import { recordKeys } from '@hotcell/record/layout.ts';
import { StoreReader } from '@hotcell/record/verify/store-reader.ts';
import { trustedKeys } from '@hotcell/record/verify/trusted-keys.ts';
import { Look, verificationBy } from '@hotcell/record/verify/verification.ts';
import { verifyAttempts } from '@hotcell/record/verify/verify-attempts.ts';
import { verifySignature } from '@hotcell/record/verify/verify-signature.ts';
import type { House } from './house.ts';
import { keysOf } from './promise.ts';

/** The run has one result, which was put once, a listed key signed it, and so did the workers of its other attempts. */
export async function oneSignedResult({ store, tenant, signing }: House, run: string): Promise<void> {
  const key = recordKeys.result(tenant, run);
  const versions = await Array.fromAsync(store.listVersions(store.record, key));
  assert.equal(versions.length, 1, `${key} was put ${versions.length} times`);
  const result = (await readResult(store, tenant, run)) ?? assert.fail(`${run} has no result`);
  const reader = new StoreReader(store);
  const trusted = await trustedKeys(reader, [signing.root.public]);
  const look = new Look(verificationBy(reader, trusted, false));
  const signed = await verifySignature(look, result);
  look.keys = await keysOf(store, store.record, recordKeys.run(tenant, run));
  if (signed) await verifyAttempts(look, result, signed);
  assert.deepEqual(look.findings.all, []);
  assert.ok(signed);
}
