import assert from 'node:assert/strict';
import { test } from 'node:test';
import { JoinedWrites } from '@hotcell/executor-worker/logs/joined-writes.ts';
import fc from 'fast-check';

type Stream = 'stdout' | 'stderr';
const at = new Date(0);

function joined(writes: readonly (readonly [Stream, string])[], block = () => 0): [Stream, string][] {
  const lines = new JoinedWrites();
  const all = writes.flatMap(([stream, text]) => lines.add({ block: block(), stream, at, bytes: Buffer.from(text) }));
  return [...all, ...lines.take()].map(({ stream, bytes }) => [stream, bytes.toString()]);
}

test('a line that a program writes in pieces is one write', () => {
  const writes = ['1', '2'].flatMap((text) => [['stdout', text] as const, ['stdout', '\n'] as const]);
  assert.deepEqual(joined(writes), [
    ['stdout', '1\n'],
    ['stdout', '2\n'],
  ]);
});

test('a line that is not complete goes before what comes of another stream, or of another block', () => {
  const both = [
    ['stdout', 'a'],
    ['stderr', 'b\n'],
    ['stdout', 'c\n'],
  ] as const;
  assert.deepEqual(joined(both), both);
  let block = 0;
  assert.deepEqual(
    joined([both[0], both[2]], () => block++),
    [both[0], both[2]],
  );
});

test('a line waits for no more than 4 KiB, and its bytes are its own', () => {
  const lines = new JoinedWrites();
  const shared = Buffer.from('abc');
  assert.deepEqual(lines.add({ block: 0, stream: 'stdout', at, bytes: shared }), []);
  assert.equal(lines.isWaiting, true);
  shared.fill('x');
  const [whole] = lines.add({ block: 0, stream: 'stdout', at, bytes: Buffer.alloc(4093, 'd') });
  assert.equal(whole?.bytes.toString(), `abc${'d'.repeat(4093)}`);
  assert.equal(lines.isWaiting, false);
});

test('nothing is lost, and each stream keeps its order', () => {
  const write = fc.tuple(fc.constantFrom<Stream>('stdout', 'stderr'), fc.string({ maxLength: 9 }), fc.boolean());
  fc.assert(
    fc.property(fc.array(write), (all) => {
      const writes = all.map(([stream, text, ends]) => [stream, `${text}${ends ? '\n' : ''}`] as const);
      const order = (rows: readonly (readonly [Stream, string])[]) => rows.map(([, text]) => text).join('');
      assert.equal(order(joined(writes)), order(writes));
      const of = (stream: Stream) => order(joined(writes).filter(([one]) => one === stream));
      assert.equal(of('stderr'), order(writes.filter(([one]) => one === 'stderr')));
    }),
  );
});
