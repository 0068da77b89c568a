import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, test } from 'node:test';
import { canonical } from '@hotcell/contract/digest.ts';
import { HotcellError } from '@hotcell/contract/errors.ts';
import type { RunVerdict } from '@hotcell/contract/evidence/verdict.ts';
import { newRunId } from '@hotcell/contract/names.ts';
import { emptyResult } from '@hotcell/record/empty-result.ts';
import { FolderReader } from '@hotcell/record/verify/folder-reader.ts';
import { readWhole } from '@hotcell/record/verify/record-reader.ts';
import type { Verification } from '@hotcell/record/verify/verification.ts';
import { verifyAll } from '@hotcell/record/verify/verify-all.ts';
import { listKeys, Memory, putSigned, signerOf, verdictIn, verificationOf } from '../../../support/signed-record.ts';

const tenant = 't';
const { signer, listed } = signerOf('producer', 'producer');

/** Two refusals: one to be damaged, and one that has to be verified nevertheless. */
async function twoRuns(record = new Memory()) {
  const put = async () => {
    const run = newRunId();
    const ending = { outcome: 'rejected', reason: 'Refused: no', errors: [] } as const;
    const result = emptyResult({ run, tenant, spec: null }, undefined, ending, new Date());
    return { run, ...(await putSigned(record, signer, result)) };
  };
  listKeys(record, listed);
  return { record, bent: await put(), whole: await put() };
}

async function verdicts(record: Memory, runs: readonly string[]): Promise<Map<string, RunVerdict>> {
  const found = new Map<string, RunVerdict>();
  const at = runs.map((run) => ({ tenant, run }));
  await verifyAll(await verificationOf(record), at, (verdict) => found.set(verdict.run, verdict));
  return found;
}

/** Reading one object fails with this error. */
class Failing extends Memory {
  at = '';
  error: Error = new Error();

  override async read(key: string, sink: (chunk: Uint8Array) => void): Promise<boolean> {
    if (key === this.at) throw this.error;
    return await super.read(key, sink);
  }
}

describe('an audit of all runs', () => {
  test('calls a result MODIFIED that has half of a surrogate pair in it, and goes on', async () => {
    const { record, bent, whole } = await twoRuns();
    const text = canonical(bent.value).replace('Refused: no', 'Refused: \\ud800');
    record.set(bent.result, Buffer.from(text));
    const said = await verdicts(record, [bent.run, whole.run]);
    assert.equal(said.get(whole.run)?.verdict, 'VALID');
    assert.equal(said.get(bent.run)?.verdict, 'MODIFIED');
    assert.equal(said.get(bent.run)?.findings[0]?.object, bent.result);
  });

  test('names the run and the error if one run cannot be verified, and goes on', async () => {
    const record = new Failing();
    const { bent, whole } = await twoRuns(record);
    record.at = bent.bundle;
    record.error = new TypeError('a fault that nothing expects');
    const said = await verdicts(record, [bent.run, whole.run]);
    assert.equal(said.get(whole.run)?.verdict, 'VALID');
    const [finding, ...more] = said.get(bent.run)?.findings ?? [];
    assert.deepEqual(more, []);
    assert.equal(finding?.verdict, 'MODIFIED');
    assert.ok(finding.object.includes(bent.run));
    assert.match(finding.found, /a fault that nothing expects/);
  });

  for (const code of ['store_unavailable', 'forbidden'] as const)
    test(`ends with the error of a store that answers ${code}: it says nothing of any run`, async () => {
      const record = new Failing();
      const { bent, whole } = await twoRuns(record);
      record.at = bent.bundle;
      record.error = new HotcellError(code, 'The store is away.');
      await assert.rejects(verdicts(record, [bent.run, whole.run]), { code });
    });

  test('does not keep an object that is larger than any that is parsed', async () => {
    const { record, bent } = await twoRuns();
    record.set(bent.result, Buffer.alloc(256 * 2 ** 20 + 1));
    const said = await verdictIn(record, { tenant, run: bent.run });
    assert.equal(said.verdict, 'MODIFIED');
    assert.match(said.findings[0]?.found ?? '', /larger than 256 MiB/);
    assert.equal(said.read.bytes, 0);
  });

  test('holds the large objects of one run at a time, and goes on with the small ones of others', async () => {
    const record = new Memory();
    const runs = Array.from({ length: 40 }, () => ({ tenant, run: newRunId() }));
    for (const [i, { run }] of runs.entries()) record.set(run, Buffer.alloc(i % 2 === 0 ? 3 * 2 ** 20 : 10));
    let [large, most, done] = [0, 0, 0];
    listKeys(record, listed);
    const of = await verificationOf(record);
    const look = async (some: Verification, { run }: { run: string }) => {
      const bytes = await readWhole(some.reader, run, some.room);
      const isLarge = bytes?.length !== 10;
      if (isLarge) most = Math.max(most, ++large);
      // It is parsed and compared, which takes turns of the event loop.
      for (let i = 0; i < 5; i++) await new Promise(setImmediate);
      // A second large object of the same run does not wait for the room that the run has.
      if (isLarge) await readWhole(some.reader, run, some.room);
      if (isLarge) large--;
      done++;
      return undefined;
    };
    await verifyAll(of, runs, () => undefined, look);
    assert.deepEqual([most, done], [1, 40]);
  });

  test('asks the store for no evidence under a key that no writer makes', async () => {
    const { record, bent } = await twoRuns();
    const bundle = `${dirname(bent.result)}/${'x'.repeat(2000)}/evidence.sigstore.json`;
    const value = { ...bent.value, evidence: { bundle, sha256: bent.value.evidence?.sha256 } };
    record.set(bent.result, Buffer.from(canonical(value)));
    assert.equal((await verdictIn(record, { tenant, run: bent.run })).verdict, 'INCONSISTENT');
  });
});

describe('an audit of a copy in a folder', () => {
  const stand: Readonly<Record<string, (path: string) => unknown>> = {
    'a pipe': (path) => execFileSync('mkfifo', [path]),
    'a link to a device': (path) => symlinkSync('/dev/zero', path),
    'a folder': (path) => mkdirSync(path),
  };
  for (const [what, put] of Object.entries(stand))
    test(`calls evidence MISSING in whose place ${what} stands, and does not read it`, async () => {
      const { record, bent } = await twoRuns();
      const folder = mkdtempSync(join(tmpdir(), 'verify-'));
      try {
        for (const [key, bytes] of record) {
          mkdirSync(dirname(join(folder, key)), { recursive: true });
          writeFileSync(join(folder, key), bytes);
        }
        unlinkSync(join(folder, bent.bundle));
        put(join(folder, bent.bundle));
        const said = await verdictIn(new FolderReader(folder), { tenant, run: bent.run });
        assert.deepEqual([said.verdict, said.findings[0]?.object], ['MISSING', bent.bundle]);
      } finally {
        rmSync(folder, { recursive: true });
      }
    });
});
