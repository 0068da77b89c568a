import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { sha256 } from '@hotcell/contract/digest.ts';
import { fillForm, formPosture } from '@hotcell/contract/posture-form.ts';
import type { TakenPosture } from '@hotcell/contract/posture.ts';
import fc from 'fast-check';

/** What a cell reports: cells of one kind differ only in their own words. */
const postureOf = (cell: string, uid: string, size = 64): TakenPosture => ({
  inside: {
    ids: [`ruid=${uid} euid=${uid}`],
    mount: [`point=/etc/hosts root=/cells/${cell}/hosts bytes=1237610`, `point=/tmp superOptions=rw,size=${size}k`],
  },
  outside: { name: `hotcell-cell-${uid}`, privileged: false, pids: 272, capDrop: ['ALL'] },
  worth: 'a sentence',
});
const ownOf = (cell: string, uid: string) => ({ cell, uid, name: `hotcell-cell-${uid}` });

describe('a posture in two parts', () => {
  const one = formPosture(postureOf('02ecfd7d420c21ad', '23761'), ownOf('02ecfd7d420c21ad', '23761'));

  test('has the same form for all cells that are isolated alike', () => {
    const other = formPosture(postureOf('fb1e9bf403517dd8', '23762'), ownOf('fb1e9bf403517dd8', '23762'));
    assert.equal(other.digest, one.digest);
    assert.match(one.text, /bytes=1237610/, 'a number that contains a uid is no uid');
  });

  test('has another form for a cell that is isolated otherwise', () => {
    const wider = formPosture(postureOf('02ecfd7d420c21ad', '23761', 128), ownOf('02ecfd7d420c21ad', '23761'));
    assert.notEqual(wider.digest, one.digest);
  });

  test('names the form by the digest of its text, and repeats none of it', () => {
    assert.equal(one.digest, sha256(one.text));
    assert.deepEqual(one.named, {
      digest: one.digest,
      own: ownOf('02ecfd7d420c21ad', '23761'),
      inside: {},
      outside: {},
      worth: 'a sentence',
    });
  });

  test('makes the whole again, whatever is in it', () => {
    const word = fc.constantFrom('abcd', 'uid-1', '{cell}', '{uid}', '=', '/', ' ', '1234', 'x');
    const text = fc.array(word, { maxLength: 6 }).map((words) => words.join(''));
    const fact = fc.oneof(text, fc.integer(), fc.boolean(), fc.array(text, { maxLength: 3 }));
    const facts = fc.dictionary(text, fact, { noNullPrototype: true });
    const posture = fc.record({ inside: facts, outside: facts, worth: text }, { noNullPrototype: true });
    const own = fc.dictionary(
      fc.constantFrom('cell', 'uid', 'env.X'),
      fc.constantFrom('abcd', '1234', 'uid-1', '{cell}'),
    );
    fc.assert(
      fc.property(posture, own, (whole, words) => {
        const { text: form, named } = formPosture(whole, words);
        assert.deepEqual(fillForm(JSON.parse(form), named.own ?? {}), whole);
      }),
    );
  });
});
