import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { canonical } from '@hotcell/contract/digest.ts';
import { attestedForm, type AttestedResult, committedForm } from '@hotcell/contract/evidence/attested-result.ts';
import { Envelope, payloadOf, seal } from '@hotcell/contract/evidence/dsse.ts';
import { judgeErasure, readErasure } from '@hotcell/contract/evidence/erasure.ts';
import { tryBundle } from '@hotcell/contract/evidence/evidence-bundle.ts';
import { knownKeys, readKeyList, readKeyRequest } from '@hotcell/contract/evidence/key-list.ts';
import { readReceipt } from '@hotcell/contract/evidence/receipt.ts';
import { SigningKey } from '@hotcell/contract/evidence/signing-key.ts';
import { AttemptStatement, Statement, statementType } from '@hotcell/contract/evidence/statement.ts';
import { HotcellError } from '@hotcell/contract/errors.ts';
import { newRunId } from '@hotcell/contract/names.ts';
import { parseKept } from '@hotcell/contract/parse.ts';
import { emptyResult } from '@hotcell/record/empty-result.ts';
import fc from 'fast-check';
import { listKeys, Memory, putSigned, signerOf, verdictIn } from '../../../support/signed-record.ts';

const key = new SigningKey(SigningKey.generate());
const { signer, listed } = signerOf('producer', 'producer');

/** Names that a parser may stumble over, and those that it looks for. */
const names = fc.constantFrom(
  ...['__proto__', 'constructor', 'toString', '', '\ud800', 'run', 'tenant', 'keys', 'payload', 'signatures'],
  ...['payloadType', 'subject', 'predicate', 'evidence', 'receipt', 'version', 'number', '_type', 'sig'],
);
const words = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.constantFrom('\ud800', '\0', 'sha256:', '2026-01-01', '1e999'),
);
const { json } = fc.letrec<{ json: unknown }>((tie) => ({
  json: fc.oneof(
    { maxDepth: 5 },
    fc.constantFrom(null, true, -0, 1e308, 2 ** 53, 1),
    words,
    fc.array(tie('json'), { maxLength: 4 }),
    fc.dictionary(names, tie('json'), { maxKeys: 5, noNullPrototype: false }),
  ),
}));
const bytes = fc.oneof(
  json.map((value) => Buffer.from(JSON.stringify(value))),
  fc.uint8Array({ maxLength: 200 }).map((some) => Buffer.from(some)),
  fc.integer({ min: 1, max: 20_000 }).map((depth) => Buffer.from('['.repeat(depth))),
);

/** It answers, or refuses with an error of ours: it never fails in another way. */
function refuses(read: () => unknown): void {
  try {
    read();
  } catch (error) {
    assert.ok(error instanceof HotcellError, String(error));
  }
}

describe('whatever bytes are put in its place,', () => {
  test('a bundle is read as a problem, or is byte for byte what was read', () => {
    fc.assert(
      fc.property(bytes, (some) => {
        const text = some.toString('utf8');
        const read = tryBundle(text);
        if ('bundle' in read) assert.equal(canonical(read.bundle), text);
        else assert.equal(typeof read.problem, 'string');
      }),
    );
  });

  test('an envelope is refused, or holds a payload and one signature', () => {
    fc.assert(
      fc.property(json, (value) => {
        const read = Envelope.safeParse(value);
        if (read.success) assert.equal(payloadOf(read.data).toString('base64'), read.data.payload);
      }),
    );
  });

  test('a receipt, an erasure, a list of keys and a request for one are refused or read', () => {
    fc.assert(
      fc.property(bytes, (payload) => {
        for (const type of ['receipt', 'keys', 'key-request', 'erasure']) {
          const envelope = seal(key, `application/vnd.hotcell.${type}+json`, payload);
          refuses(() => readReceipt(envelope));
          refuses(() => readErasure(envelope));
          refuses(() => readKeyRequest(envelope));
          refuses(() => knownKeys(readKeyList(envelope, [key.public]).list));
          assert.ok('problem' in judgeErasure(envelope, [{ key: key.public }], resultOf(newRunId())));
        }
      }),
      { numRuns: 50 },
    );
  });

  test('a statement is refused, or has the shape of one', () => {
    fc.assert(
      fc.property(bytes, (some) => {
        for (const schema of [Statement, AttemptStatement])
          refuses(() => parseKept(schema, some.toString('utf8'), 'the statement', 'record_damaged'));
      }),
    );
  });
});

const ending = { outcome: 'rejected', reason: 'no', errors: [] } as const;
const resultOf = (run: string) => emptyResult({ run, tenant: 't', spec: null }, undefined, ending, new Date());

test('whatever members a result has, its stored form is the canonical form of all of them', () => {
  const members = fc.dictionary(fc.oneof(names, fc.string()), fc.oneof(fc.string(), fc.integer()), { maxKeys: 8 });
  const evidence = { bundle: 'b', sha256: `sha256:${'0'.repeat(64)}` as const };
  const receipt = seal(key, 'a type', Buffer.from('{}'));
  fc.assert(
    fc.property(members, (more) => {
      const { evidence: _evidence, receipt: _receipt, ...rest } = more;
      const odd = Object.entries(rest)
        .flat()
        .some((text) => typeof text === 'string' && !text.isWellFormed());
      const result = { ...resultOf(newRunId()), ...rest } as AttestedResult;
      if (odd) {
        assert.throws(() => attestedForm(result));
        return;
      }
      const { bytes: stored } = committedForm(attestedForm(result), { evidence, receipt });
      assert.equal(stored.toString(), canonical({ ...result, evidence, receipt }));
    }),
  );
});

/** Places in a result, and what an insider may sign there. */
const places = fc.constantFrom(
  ...['outcome', 'attempts', 'blocks', 'spec', 'policy', 'image', 'inputs', 'outputs', 'logs', 'posture'],
  ...['timings', 'limits', 'usage', 'runtime', 'labels', 'requester', 'errors', 'exitCode', 'warnings', 'evidence'],
);

test('a result with anything in any place, signed by a listed key, gets a verdict and ends no audit', async () => {
  await fc.assert(
    fc.asyncProperty(places, json, async (place, value) => {
      const run = newRunId();
      const record = new Memory();
      listKeys(record, listed);
      try {
        JSON.parse(canonical({ value }));
      } catch {
        return; // What has no canonical form can't be signed.
      }
      const put = await putSigned(record, signer, { ...resultOf(run), [place]: value }).catch(() => undefined);
      if (!put) return;
      const { verdict, findings } = await verdictIn(record, { tenant: 't', run });
      assert.equal(verdict === 'VALID', findings.length === 0);
    }),
    { numRuns: 200 },
  );
});

test('a byte anywhere in a run’s objects is never changed without a finding', async () => {
  const run = newRunId();
  const made = new Memory();
  listKeys(made, listed);
  const { bundle, result } = await putSigned(made, signer, resultOf(run));
  assert.equal((await verdictIn(made, { tenant: 't', run })).verdict, 'VALID');
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(bundle, result), fc.nat(), fc.integer({ min: 1, max: 255 }), async (at, n, by) => {
      const changed = Buffer.from(made.get(at) ?? '');
      const offset = n % changed.length;
      changed.writeUInt8(changed.readUInt8(offset) ^ by, offset);
      const record = new Memory(made);
      record.set(at, changed);
      assert.notEqual((await verdictIn(record, { tenant: 't', run })).verdict, 'VALID');
    }),
    { numRuns: 300 },
  );
});

test('the type of an envelope is part of what is signed', () => {
  fc.assert(
    fc.property(fc.string(), fc.string(), (one, other) => {
      const envelope = seal(key, statementType + one, Buffer.from('{}'));
      assert.equal(
        key.public.verifies(Buffer.from(`DSSEv1 ${other}`), Buffer.from(envelope.signatures[0].sig, 'base64')),
        false,
      );
    }),
    { numRuns: 20 },
  );
});
