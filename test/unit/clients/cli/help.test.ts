import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { buildProgram } from '@hotcell/cli/program.ts';
import { commandsPage, subcommandsIn } from '../../../docs/commands-page.ts';
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
    const inner = subcommandsIn(help);
    const own = inner.length === 0 ? [help] : await Promise.all(inner.map((word) => helpOf([name, word, '--help'])));
    for (const text of own) assert.match(text, /Examples:\n {2}\S/);
  });

test('docs/commands.md is up to date: `sh setup/node.sh test/docs/generate.ts` writes it', async () => {
  const page = readFileSync(join(import.meta.dirname, '../../../../docs/commands.md'), 'utf8');
  assert.deepEqual((await commandsPage()).split('\n'), page.split('\n'));
});
