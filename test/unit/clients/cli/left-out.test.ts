import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, describe, test } from 'node:test';
import { Choice } from '@hotcell/cli/left-out.ts';
import { walk } from '@hotcell/client/walk.ts';

const root = mkdtempSync(join(tmpdir(), 'hotcell-left-out-'));
after(() => rmSync(root, { recursive: true }));

let made = 0;
function folderWith(files: Readonly<Record<string, string>>): string {
  const folder = join(root, `${made++}`);
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  return folder;
}

function chosen(source: string, ...exclude: string[]) {
  const choice = new Choice(source, exclude);
  const paths = walk(source, choice.skip).map(({ path }) => path);
  const told: string[] = [];
  choice.tell({ note: (text) => told.push(text), warnings: (texts) => told.push(...texts) });
  return { paths, told: told.join('\n') };
}

describe('of a folder that is frozen', () => {
  test('history, packages and caches are left out, by name', () => {
    const folder = folderWith({
      '.git/HEAD': '',
      'a.csv': '',
      'src/node_modules/x/i.js': '',
      'src/__pycache__/a.pyc': '',
      'src/a.py': '',
    });
    symlinkSync('nowhere', join(folder, 'src/node_modules/link'));
    const { paths, told } = chosen(folder);
    assert.deepEqual(paths, ['a.csv', 'src/a.py']);
    assert.equal(told, "Left out: .git, src/__pycache__, src/node_modules. --exclude '!.git' keeps one.");
    assert.deepEqual(chosen(folder, '!.git').paths, ['.git/HEAD', 'a.csv', 'src/a.py']);
  });
  test('what .hotcellignore and --exclude name is left out, as in .gitignore', () => {
    const folder = folderWith({
      '.hotcellignore': '*.tmp\n!keep.tmp\n# a comment\n/only-here\n',
      'a.tmp': '',
      'b/keep.tmp': '',
      'b/only-here': '',
      'only-here': '',
      'drafts/x': '',
    });
    assert.deepEqual(chosen(folder).paths, ['b/keep.tmp', 'b/only-here', 'drafts/x']);
    assert.deepEqual(chosen(folder, 'drafts/', '*.tmp'), { paths: ['b/only-here'], told: '' });
  });
  test('what looks like a secret is warned of, by name', () => {
    const folder = folderWith({
      'conf/.env': '',
      '.env.example': '',
      '.env.local': '',
      id_rsa: '',
      'id_rsa.pub': '',
      'server.pem': '',
      'monkey.csv': '',
      'keys.csv': '',
    });
    const { paths, told } = chosen(folder);
    assert.equal(paths.length, 8);
    assert.equal(
      told,
      '.env.local, conf/.env, id_rsa, server.pem look like a secret, and the record keeps what is frozen. Leave it out with --exclude, or list it in .hotcellignore.',
    );
    assert.equal(chosen(folder, '.env*', 'id_rsa', '*.pem').told, '');
  });
  test('nothing but what is left out is an error', () =>
    assert.throws(() => chosen(folderWith({ '.git/HEAD': '' })), /contains no files to freeze/));
});

test('a file that is named itself is frozen, with a warning if it looks like a secret', () => {
  const folder = folderWith({ '.env': '', 'a.tmp': '' });
  assert.match(chosen(join(folder, '.env')).told, /\.env looks like a secret/);
  assert.deepEqual(chosen(join(folder, 'a.tmp'), '*.tmp').paths, ['a.tmp']);
});
