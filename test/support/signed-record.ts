import assert from 'node:assert/strict';
import { canonical } from '@hotcell/contract/digest.ts';
import type { AttestedResult } from '@hotcell/contract/evidence/attested-result.ts';
import { type KeyList, signKeyList } from '@hotcell/contract/evidence/key-list.ts';
import { SigningKey } from '@hotcell/contract/evidence/signing-key.ts';
import type { RunVerdict } from '@hotcell/contract/evidence/verdict.ts';
import { committed, type Known, signResult } from '@hotcell/record/attest.ts';
import { recordKeys } from '@hotcell/record/layout.ts';
import type { Signer } from '@hotcell/record/signer.ts';
import type { FoundKey, RecordReader } from '@hotcell/record/verify/record-reader.ts';
import { trustedKeys } from '@hotcell/record/verify/trusted-keys.ts';
import { verificationBy, type Verification } from '@hotcell/record/verify/verification.ts';
import { verifyRun } from '@hotcell/record/verify/verify-run.ts';

export const root = new SigningKey(SigningKey.generate());
export const listedFrom = '2026-01-01T00:00:00.000Z';

/** A record in memory, to be changed behind a verifier's back. */
export class Memory extends Map<string, Buffer> implements RecordReader {
  readonly name = 'memory';
  readonly hidden = new Set<string>();
  readonly rewritten = new Set<string>();

  async *list(prefix: string): AsyncGenerator<FoundKey> {
    for (const key of [...this.keys()].toSorted())
      if (key.startsWith(prefix))
        yield {
          ...{ key, size: this.get(key)?.length ?? 0, modified: undefined },
          ...{ versions: this.rewritten.has(key) ? 2 : 1, hidden: this.hidden.has(key) },
        };
  }

  async *folders(prefix: string): AsyncGenerator<string> {
    const below = [...this.keys()].flatMap((key) => {
      const end = key.startsWith(prefix) ? key.indexOf('/', prefix.length) : -1;
      return end < 0 ? [] : key.slice(0, end + 1);
    });
    yield* new Set(below.toSorted());
  }

  async read(key: string, sink: (chunk: Uint8Array) => void): Promise<boolean> {
    const bytes = this.hidden.has(key) ? undefined : this.get(key);
    if (bytes) sink(bytes);
    return bytes !== undefined;
  }
}

/** A process that signs, and its row on the list of keys. */
export function signerOf(
  role: 'producer' | 'worker',
  name: string,
): { signer: Signer; listed: KeyList['keys'][number] } {
  const key = new SigningKey(SigningKey.generate());
  const { fingerprint } = key;
  const host = { kernel: '6.1', machine: 'x86_64' };
  const signer = { key, facts: { role, name, key: fingerprint, version: '1', host } } as unknown as Signer;
  return { signer, listed: { role, name, fingerprint, publicKey: key.public.pem, from: listedFrom } };
}

export function listKeys(record: Memory, ...keys: KeyList['keys']): void {
  const list: KeyList = { version: 1, installation: 'i', number: 1, issuedAt: listedFrom, keys };
  record.set(recordKeys.keyList, Buffer.from(canonical(signKeyList(root, list))));
}

/** Signs a result as its writer does, and puts it with its evidence. */
export async function putSigned(record: Memory, signer: Signer, result: AttestedResult, known: Known = {}) {
  const { tenant, run } = result;
  const attested = await signResult(signer, result, known);
  const bundle = recordKeys.evidence(tenant, run, attested.place);
  const whole = await committed(attested, { bundle, sha256: attested.bundle.digest });
  record.set(bundle, Buffer.from(attested.bundle.text));
  record.set(recordKeys.result(tenant, run), Buffer.from(whole.bytes));
  return { bundle, value: whole.value, result: recordKeys.result(tenant, run) };
}

export async function verificationOf(reader: RecordReader): Promise<Verification> {
  return verificationBy(reader, await trustedKeys(reader, [root.public]));
}

export async function verdictIn(reader: RecordReader, at: { tenant: string; run: string }): Promise<RunVerdict> {
  const said = await verifyRun(await verificationOf(reader), at);
  assert.ok(said);
  return said;
}
