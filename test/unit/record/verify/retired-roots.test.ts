import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { judgeErasure, signErasure } from '@hotcell/contract/evidence/erasure.ts';
import { type KeyList, readKeyList, signKeyList } from '@hotcell/contract/evidence/key-list.ts';
import { asSignedBy, erasersOf, withRetiredRoot } from '@hotcell/contract/evidence/root-succession.ts';
import { SigningKey } from '@hotcell/contract/evidence/signing-key.ts';
import { sha256 } from '@hotcell/contract/digest.ts';
import { newRunId } from '@hotcell/contract/names.ts';
import { withKeys, withRevoked } from '@hotcell/setup/keys/key-list-changes.ts';

const [first, second, third] = [0, 1, 2].map(() => new SigningKey(SigningKey.generate())) as [
  SigningKey,
  SigningKey,
  SigningKey,
];
const [ended, erased, rotated, later] = [1, 2, 3, 4].map((day) => `2026-03-0${day}T00:00:00.000Z`) as [
  string,
  string,
  string,
  string,
];
const list: KeyList = { version: 1, installation: 'i', number: 1, issuedAt: ended, keys: [] };
const run = {
  ...{ run: newRunId(), tenant: 't', evidence: { sha256: sha256('e') } },
  timings: { finishedAt: ended } as Parameters<typeof judgeErasure>[2]['timings'],
};

/** As the operator's commands put the next list: what this root signs over what that one signed. */
const rotate = (before: KeyList, from: SigningKey, to: SigningKey, issuedAt = rotated) =>
  asSignedBy(to.fingerprint, withRetiredRoot({ ...before, number: before.number + 1, issuedAt }, from.public));

/** What a verifier says who trusts these roots, and reads the list that one of them signed. */
function judged(by: SigningKey, at: string, { list: after, trust }: { list: KeyList; trust: SigningKey }) {
  const said = {
    version: 1,
    run: run.run,
    tenant: 't',
    evidence: run.evidence.sha256,
    by: 'anna',
    reason: 'r',
    at,
  } as const;
  const { list: read } = readKeyList(signKeyList(trust, after), [trust.public]);
  const judgement = judgeErasure(signErasure(by, said), erasersOf([trust.public], read), run);
  return 'erasure' in judgement ? 'counts' : judgement.problem;
}

describe('an erasure by a root that was replaced', () => {
  test('counts for those who trust the new root alone, and after another rotation too', () => {
    const once = rotate(list, first, second);
    assert.equal(judged(first, erased, { list: once, trust: second }), 'counts');
    const twice = rotate(once, second, third, later);
    for (const root of [first, second, third])
      assert.equal(judged(root, erased, { list: twice, trust: third }), 'counts');
  });

  test('does not count without the word of the new root', () => {
    const silent = { ...list, number: 2, issuedAt: rotated };
    assert.equal(judged(first, erased, { list: silent, trust: second }), 'no trusted root signed it');
  });

  test('does not count from the time on at which the root was replaced', () => {
    const once = rotate(list, first, second);
    assert.match(judged(first, later, { list: once, trust: second }), /was replaced at 2026-03-03/);
    const { publicKey } = once.retiredRoots?.[0] ?? assert.fail();
    assert.equal(publicKey, first.public.pem);
    // Not even for those who trust the old root still.
    const erasers = erasersOf([first.public, second.public], once);
    assert.equal(erasers.filter(({ key, retired }) => key.fingerprint === first.fingerprint && !retired).length, 0);
  });

  test('does not count once the root is revoked since before it', () => {
    const revoked = withRevoked(
      rotate(list, first, second),
      first.fingerprint,
      new Date(ended),
      'stolen',
      new Date(later),
    );
    assert.match(judged(first, erased, { list: revoked, trust: second }), /revoked since 2026-03-01/);
    assert.equal(revoked.retiredRoots?.[0]?.reason, 'stolen');
  });
});

describe('a list of keys', () => {
  test('keeps the roots that were replaced, with the time of their first retirement, whatever is changed', () => {
    const once = rotate(list, first, second);
    const changed = withKeys(withRetiredRoot({ ...once, issuedAt: later }, first.public), [], new Date(later));
    assert.deepEqual(changed.retiredRoots, once.retiredRoots);
  });

  test('does not retire the root that signs it', () => {
    const drafted = withRetiredRoot(list, first.public, later);
    assert.equal(asSignedBy(first.fingerprint, drafted).retiredRoots, undefined);
    assert.equal(asSignedBy(second.fingerprint, drafted).retiredRoots?.[0]?.until, later);
    assert.equal(rotate(rotate(list, first, second), second, first).retiredRoots?.[0]?.fingerprint, second.fingerprint);
  });
});
