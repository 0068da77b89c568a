import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { HotcellError } from '@hotcell/contract/errors.ts';
import { failureOf } from '@hotcell/cli/exit-code.ts';
import { command } from '@hotcell/setup/command.ts';
import { checkout } from '@hotcell/setup/settings/installation.ts';

/** The program as it is called, with an installation that is not there. */
async function hotcell(words: readonly string[], env: Readonly<Record<string, string | undefined>> = {}) {
  const HOTCELL_HOME = join(tmpdir(), 'hotcell-nowhere');
  return await command([process.execPath, join(checkout, 'clients/cli/cli-main.ts'), ...words], {
    env: { HOTCELL_PORT_BASE: undefined, HOTCELL_HOME, ...env },
  });
}

describe('the command line', () => {
  for (const words of [
    ['fetch'],
    ['up', '--force'],
    ['status', 'everything'],
    ['--colour', 'status'],
    ['ls', '--limit'],
    ['snapshot', 'create', ''],
    ['snapshot', 'create', '.', '--name', 'Not a name'],
  ])
    test(`\`${words.join(' ')}\` is wrong usage: it ends with 2 and prints nothing but why`, async () => {
      const { code, stdout, stderr } = await hotcell(words);
      assert.equal(code, 2);
      assert.equal(stdout, '');
      assert.match(stderr, /^error: .+/);
    });

  test('without words it shows what there is', async () => {
    const { code, stdout } = await hotcell([]);
    assert.equal(code, 0);
    assert.match(stdout, /Usage: hotcell/);
  });

  test('`help up` is `up --help`, with examples', async () => {
    const [help, other] = await Promise.all([hotcell(['help', 'up']), hotcell(['up', '--help'])]);
    assert.equal(help.code, 0);
    assert.equal(help.stdout, other.stdout);
    assert.match(help.stdout, /Examples:\n {2}\.\/hotcell up/);
  });

  test('an unknown setting ends every command with 1 and one line', async () => {
    const { code, stdout, stderr } = await hotcell(['status'], { HOTCELL_PORTBASE: '1' });
    assert.equal(code, 1);
    assert.equal(stdout, '');
    assert.match(stderr, /^error: .*HOTCELL_PORTBASE.*Did you mean HOTCELL_PORT_BASE\?\n$/);
  });

  test('says its version, which is that of the package', async () => {
    const { version } = JSON.parse(await readFile(join(checkout, 'package.json'), 'utf8')) as { version: string };
    for (const flag of ['--version', '-V']) assert.equal((await hotcell([flag])).stdout, `${version}\n`);
  });

  test('where nothing is set up, status says what to do', async () => {
    const { code, stderr } = await hotcell(['status']);
    assert.equal(code, 1);
    assert.match(stderr, /^error: .*\.\/hotcell up/);
  });

  test('an error is marked, with colour only where colour is wanted', async () => {
    const marked = async (env: Readonly<Record<string, string>>) =>
      (await hotcell(['status'], { FORCE_COLOR: undefined, NO_COLOR: undefined, ...env })).stderr.split(' Nothing')[0];
    assert.equal(await marked({}), 'error:');
    assert.equal(await marked({ FORCE_COLOR: '1' }), '\u001b[31merror:\u001b[39m');
    assert.equal(await marked({ NO_COLOR: '1' }), 'error:');
  });

  test('where nothing is set up, there is nothing to stop, and that is no failure', async () => {
    assert.equal((await hotcell(['down'])).code, 0);
  });
});

describe('a failure', () => {
  test('of rights ends with 4, any other with 1', () => {
    assert.equal(failureOf(new HotcellError('unauthenticated', 'no key')).code, 4);
    assert.equal(failureOf(new HotcellError('forbidden', 'not yours')).code, 4);
    assert.equal(failureOf(new HotcellError('store_unavailable', 'gone')).code, 1);
    assert.equal(failureOf(new Error('broken')).code, 1);
  });

  test('shows every issue once', () => {
    const issues = [
      { path: 'blocks[0].code', message: 'is empty' },
      { path: 'limits', message: 'are too high' },
    ];
    const { text } = failureOf(new HotcellError('invalid', 'refused: is empty', { issues }));
    assert.equal(text, 'error: refused: is empty\n  limits: are too high\n');
  });

  test('names everything that is wrong in the same way, though its message names one', () => {
    const issues = [
      { path: 'a', message: 'is a link' },
      { path: 'b', message: 'is a link' },
    ];
    const { text } = failureOf(new HotcellError('snapshot_refused', '"a" is a link, and 1 more', { issues }));
    assert.equal(text, 'error: "a" is a link, and 1 more\n  a: is a link\n  b: is a link\n');
  });

  test('shows what a stranger named so that no terminal obeys it, and each issue in a line of its own', () => {
    const issues = [{ path: 'new\nline\u001b[2J', message: 'has control\ncharacters\u202e' }];
    const { text } = failureOf(new HotcellError('snapshot_refused', 'refused: esc\u001b[31m', { issues }));
    assert.equal(text, 'error: refused: esc^[[31m\n  new^Jline^[[2J: has control^Jcharacters<U+202E>\n');
    assert.equal(failureOf(new Error('bell\u0007')).text, 'error: bell^G\n');
  });
});
