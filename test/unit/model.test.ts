import assert from 'node:assert/strict';
import { test } from 'node:test';
import { asBuilt, explore, type Lines } from '../model/model.ts';

test('as it is built, no death, sleep or loss at any point breaks a promise', () => {
  const { states, broken } = explore(asBuilt);
  assert.equal(broken, undefined);
  assert.ok(states > 1_000, `${states} states`);
});

const otherwise: Record<string, Partial<Lines>> = {
  'the answer before the open marker': { producer: ['spec', 'answer', 'open', 'ticket'] },
  'the open marker before the spec': { producer: ['open', 'answer', 'spec', 'ticket'] },
  'no recovery, with the ticket after the answer': { recovers: false },
  'no recovery, with the ticket before the answer': { recovers: false, producer: ['spec', 'open', 'ticket', 'answer'] },
  'a result that is put whatever is there': { fenced: false },
  'a done marker before the result, and a notary that believes it': {
    worker: ['claim', 'done', 'result', 'ack'],
    verifies: false,
  },
};

for (const [what, lines] of Object.entries(otherwise))
  test(`the order matters: ${what} breaks a promise`, () => {
    const { broken } = explore({ ...asBuilt, ...lines });
    assert.ok(broken, 'nothing broke');
    assert.ok(broken.way.length > 1);
  });
