import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { sha256 } from '@hotcell/contract/digest.ts';
import { HotcellError } from '@hotcell/contract/errors.ts';
import { compareUtf8, manifestOf } from '@hotcell/contract/snapshot.ts';
import { emptyResult } from '@hotcell/record/empty-result.ts';
import { type LongCalls, longCalls } from '@hotcell/record/long-calls.ts';
import { longBytes, longWork, roughBytes } from '@hotcell/record/long-work.ts';
import { casLocation, locationsOf } from '@hotcell/record/snapshot-locations.ts';
import fc from 'fast-check';
import { testLimits } from '../../support/limits.ts';
import { policyOf } from '../../support/policies.ts';
import { specFor } from '../../support/spec.ts';
import { collectGarbage, cpuMicros, longestStall } from '../../support/stall.ts';

const files = Array.from({ length: 20_000 }, (_, i) => {
  const digest = sha256(String(i));
  return { path: `folder-${i % 100}/file-${i}`, size: i, sha256: digest, location: casLocation('b', 't', digest) };
});
const entries = files.map(({ path, size, sha256: digest }) => ({ path, size, sha256: digest }));
const manifest = manifestOf(entries);
const locations = locationsOf(files);
const [manifestBytes, locationBytes] = [Buffer.from(manifest.text), Buffer.from(locations.text)];
const asked = { run: '01a1f4c0-ddaa-7618-bcd7-a5407c9332c0', acceptedAt: '2026-11-18T10:00:00.000Z' };
const blocks = Array.from({ length: 3 }, () => ({ language: 'python', code: 'x = 1\n'.repeat(690_000) }));
const spec = { ...specFor('t', ''), ...asked, blocks };

const of = { run: asked.run, tenant: 't', spec: sha256('spec') };
const ended = emptyResult(of, spec, { outcome: 'failed', reason: 'x'.repeat(4_000_000) }, new Date());
// The kernel counts a thread's CPU in ticks of some milliseconds: what is measured has to take many of them.
const form = { bytes: Buffer.alloc(64 * 2 ** 20, 'x'), gaps: { evidence: 1, receipt: 1 } };
const host = { kernel: '6.1', machine: 'x86_64' };
const signer = { role: 'worker', name: 'w', key: of.spec, version: '1', host };

const own = { bytes: 0, inodes: 1, paths: [] };

/** What strangers send and leave behind, as long as it may well be. */
const long: { [N in keyof LongCalls]: Parameters<LongCalls[N]> } = {
  canonical: [spec],
  attest: [{ result: ended, spec, effective: undefined, attempt: '1', receipt: null }, signer],
  commitForm: [form, { evidence: { bundle: 'x', sha256: of.spec } }],
  parseObject: ['spec', Buffer.from(JSON.stringify(spec)), 'the spec'],
  judgeNames: [entries.map(({ path }) => path)],
  snapshotTexts: [files],
  manifestBytes: [entries],
  readManifest: [manifestBytes, manifest.id],
  readLocated: [manifestBytes, manifest.id, locationBytes, locations.digest],
  entriesJson: [manifestBytes, manifest.id],
  diffJson: [manifestBytes, manifest.id, manifestBytes, manifest.id],
  workspaceChanges: [manifestBytes, manifest.id, manifestBytes, manifest.id],
  unfitWorkspace: [manifestBytes, manifest.id, { own, limits: testLimits, policy: policyOf({}) }],
};

/** The least of some tries: what else happens in this process only ever adds to it. */
async function least(work: () => number | Promise<number>): Promise<number> {
  const tries: number[] = [];
  for (let i = 0; i < 3; i++) {
    collectGarbage();
    tries.push(await work());
  }
  return Math.min(...tries);
}

describe('long work leaves the event loop, and gives what it would give there', () => {
  for (const name of Object.keys(long) as (keyof LongCalls)[])
    test(name, async () => {
      const call = longCalls[name] as (...given: unknown[]) => unknown;
      const done = call(...long[name]);
      const here = await least(() => {
        const before = cpuMicros();
        call(...long[name]);
        return cpuMicros() - before;
      });
      const stalled = await least(() => {
        // Bytes change hands.
        const own = long[name].map((arg) => (arg instanceof Buffer ? Buffer.from(arg) : arg)) as never;
        return longestStall(async () => same(await longWork(longBytes, name, ...own), done));
      });
      assert.ok(stalled < here / 2, `the loop stood still for ${stalled} µs of CPU; done there, it takes ${here}`);
    });
});

/** Without a look at every part, which would be a stall of its own. */
function same(one: unknown, other: unknown): void {
  const shape = (value: unknown) =>
    value instanceof Uint8Array || Array.isArray(value) ? [value.length, value.at(-1)] : Object.keys(value ?? {});
  assert.deepEqual(shape(one), shape(other));
}

test('what is wrong is said the same from a thread', async () => {
  const damaged = Buffer.from(manifest.text.replace('file-7"', 'file-x"'));
  const errors = await Promise.all(
    [0, longBytes].map((bytes) =>
      longWork(bytes, 'readManifest', Buffer.from(damaged), manifest.id).then(
        () => assert.fail('it was believed'),
        (error: unknown) => error,
      ),
    ),
  );
  const [here, there] = errors.map((error) => (error instanceof HotcellError ? [error.code, error.message] : error));
  assert.deepEqual(there, here);
  const bad = ['a', 'A', ...Array.from({ length: 10 }, (_, i) => `\u0000${i}`)];
  assert.deepEqual(await longWork(longBytes, 'judgeNames', bad), longCalls.judgeNames(bad));
});

test('a value is counted until its length calls for a thread, and no further', () => {
  assert.ok(roughBytes(specFor('t', 'print(1)')) < longBytes);
  assert.ok(roughBytes(spec) >= longBytes);
  let asked = 0;
  const endless = new Proxy(
    {},
    {
      ownKeys: () => Array.from({ length: 1_000_000 }, (_, i) => String(i)),
      getOwnPropertyDescriptor: () => ({ enumerable: true, configurable: true }),
      get: () => {
        asked++;
        return 1;
      },
    },
  );
  assert.equal(roughBytes(endless), longBytes);
  assert.ok(asked <= longBytes + 1, `${asked} members were asked for`);
});

test('paths are compared by the bytes of their UTF-8 form', () => {
  const path = fc.string({ unit: 'binary', maxLength: 6 });
  fc.assert(
    fc.property(path, path, (a, b) => {
      assert.equal(Math.sign(compareUtf8(a, b)), Buffer.compare(Buffer.from(a), Buffer.from(b)));
    }),
  );
});
