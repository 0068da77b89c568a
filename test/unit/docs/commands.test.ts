import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { buildProgram } from '@hotcell/cli/program.ts';
import { pagesAt } from '../../docs/named-paths.ts';
import { helpOf } from '../../support/help-of.ts';

const root = join(import.meta.dirname, '../../..');
const read = (page: string) => readFileSync(join(root, page), 'utf8');
const pages = pagesAt(root);
const names = buildProgram().commands.map((command) => command.name());

/** `./hotcell NAME [SUBCOMMAND] … --flag …`, up to the end of the code span, the line or the command. */
const named = pages.flatMap((page) =>
  [...read(page).matchAll(/\.\/hotcell ([a-z]+)\b([^`\n#|&)]*)/g)].map(
    ([line, name = '', rest = '']) => ({ page, line, name, rest }) as const,
  ),
);

test('every command of ours that a page names exists, with the options it shows', async () => {
  assert.ok(named.length > 20);
  const wrong: string[] = [];
  for (const { page, line, name, rest } of named) {
    if (!names.includes(name)) {
      wrong.push(`${page}: ${line}`);
      continue;
    }
    const help = await helpOf([name, '--help']);
    const subcommands = [...(help.split('\nCommands:\n')[1] ?? '').matchAll(/^ {2}([a-z][a-z-]*)(?:\|[a-z]+)? /gm)].map(
      ([, word]) => word,
    );
    const word = /^ ([a-z][a-z-]*)\b/.exec(rest)?.[1];
    const inner = word !== undefined && subcommands.includes(word) ? await helpOf([name, word, '--help']) : help;
    if (subcommands.length > 0 && word !== undefined && inner === help) wrong.push(`${page}: ${line}`);
    for (const [flag] of rest.matchAll(/(?<= )--?[a-z][a-z-]*/g))
      if (!new RegExp(`${flag}[ ,]`).test(inner)) wrong.push(`${page}: ${flag} in ${line}`);
  }
  assert.deepEqual(wrong, []);
});

test('every npm script that a page names exists', () => {
  const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };
  const used = pages.flatMap((page) => [...read(page).matchAll(/npm run ([a-z:]+)/g)].map(([, name = '']) => name));
  assert.ok(used.includes('check'));
  assert.deepEqual(
    used.filter((name) => !(name in scripts)),
    [],
  );
});
