import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isWhole } from '@hotcell/cli/session/prompt-lines.ts';

const whole = [
  'x = 1',
  'print("(")',
  '# for x in y:',
  '$ls -l',
  'x = [1, 2]',
  "'it''s'",
  'for i in x:\n  i\n',
  'f(\n1)',
];
const open = ['for i in x:', 'f(', 'x = """a', 'x = \\', '@property', '%%bash', 'for i in x:\n  print(i)', '$ls \\'];

test('a prompt takes these lines as a whole step', () => {
  for (const text of whole) assert.equal(isWhole(text.split('\n')), true, text);
});

test('a prompt waits for more behind these lines', () => {
  for (const text of open) assert.equal(isWhole(text.split('\n')), false, text);
});

test('an empty line ends what is open, but for a string', () => {
  for (const text of open) assert.equal(isWhole([...text.split('\n'), '']), !text.includes('"""'), text);
});
