import assert from 'node:assert/strict';
import { test } from 'node:test';
import { buildProgram } from '@hotcell/cli/program.ts';
import { helpOf } from '../../../support/help-of.ts';

const names = buildProgram().commands.map((command) => command.name());

test('the commands that people and scripts rely on are there', () => {
  for (const name of [
    'doctor',
    'up',
    'down',
    'status',
    'demo',
    'run',
    'submit',
    'wait',
    'show',
    'logs',
    'get',
    'ls',
    'cancel',
    'rerun',
    'apikey',
    'service',
    'workers',
    'rebuild',
    'completion',
  ])
    assert.ok(names.includes(name), name);
});

for (const name of names)
  test(`${name} --help says what it takes, with examples`, async () => {
    const help = await helpOf([name, '--help']);
    const [, commands = ''] = help.split('\nCommands:\n');
    const inner = [...commands.matchAll(/^ {2}([a-z]+) /gm)]
      .map(([, word = '']) => word)
      .filter((word) => word !== 'help');
    const own = inner.length === 0 ? [help] : await Promise.all(inner.map((word) => helpOf([name, word, '--help'])));
    for (const text of own) assert.match(text, /Examples:\n {2}\S/);
  });
