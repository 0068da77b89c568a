import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { filenameIn, resolveBlocks } from '@hotcell/contract/blocks.ts';
import { findLanguage, Language, languageOfFile, languages } from '@hotcell/contract/languages.ts';
import type { Block, BundledFile } from '@hotcell/contract/spec.ts';

const resolve = (blocks: Block[], files: BundledFile[] = []) => resolveBlocks(blocks, files, languages);
const issuesOf = (blocks: Block[], files: BundledFile[] = []) =>
  resolve(blocks, files).issues.map(({ path, message }) => `${path}: ${message}`);
const python = (code: string, file?: string): Block => ({ language: 'python', code, ...(file ? { file } : {}) });

describe('a language', () => {
  test('of the built-in table is what a policy may add, too', () => {
    for (const language of languages) Language.parse(language);
  });
  test('is found by name, alias and ending, whatever the case', () => {
    for (const name of ['python', 'Python', 'py', '.py', 'python3'])
      assert.equal(findLanguage(languages, name)?.name, 'python', name);
    for (const [name, found] of Object.entries({ R: 'r', shell: 'sh', PS1: 'powershell', '.r': 'r', ts: 'typescript' }))
      assert.equal(findLanguage(languages, name)?.name, found);
    assert.equal(findLanguage(languages, 'cobol'), undefined);
  });
  test('of a file is by its ending', () => {
    assert.equal(languageOfFile(languages, 'a/b.js')?.name, 'javascript');
    assert.equal(languageOfFile(languages, 'a.py/b'), undefined);
    assert.equal(languageOfFile(languages, 'Makefile'), undefined);
  });
  test('means one thing by each word', () => {
    const words = languages.flatMap(({ name, aliases, ending }) => [name, ...aliases, ending.toLowerCase()]);
    assert.equal(new Set(words).size, words.length);
  });
});

describe('a block', () => {
  test('lies in a file of its own, and is run by its language', () => {
    assert.deepEqual(resolve([python('1'), { language: 'bash', code: '' }, { argv: ['ls', '-l'] }]).resolved, [
      { index: 0, language: 'python', file: 'block_0.py', argv: ['python3', 'block_0.py'] },
      { index: 1, language: 'bash', file: 'block_1.bash', argv: ['bash', 'block_1.bash'] },
      { index: 2, language: null, file: null, argv: ['ls', '-l'] },
    ]);
  });
  test('may name its file in its first line, or beside it', () => {
    for (const line of [
      '# filename: a/b.py',
      '#filename:a/b.py  ',
      '// filename: a/b.py',
      '/* filename: a/b.py */',
      '<!-- filename: a/b.py -->',
    ])
      assert.equal(filenameIn(`${line}\nx`), 'a/b.py', line);
    for (const code of ['x\n# filename: a.py', 'filename: a.py', '# file name: a.py', '', '# filename: a.py\rprint(1)'])
      assert.equal(filenameIn(code), undefined, code);
    assert.equal(resolve([python('# filename: a.py\n', 'b.py')]).resolved[0]?.file, 'b.py');
  });
  test('whose file begins with a dash is a file, not an option', () => {
    assert.deepEqual(resolve([python('', '-c.py')]).resolved[0]?.argv, ['python3', './-c.py']);
  });
  test('keeps a name in which a replacement pattern stands', () => {
    assert.deepEqual(resolve([python('', '$&.py')]).resolved[0]?.argv, ['python3', '$&.py']);
  });

  const refused: Record<string, { blocks: Block[]; files?: BundledFile[]; said: RegExp }> = {
    'an unknown language': {
      blocks: [{ language: 'cobol', code: '' }],
      said: /^blocks\[0\]\.language: Unknown language "cobol"\. This policy allows: python, bash/,
    },
    'a file outside of the work folder': {
      blocks: [python('# filename: ../x.py\n')],
      said: /^blocks\[0\]\.code: The file name "\.\.\/x\.py" must be a relative path/,
    },
    'an absolute file': { blocks: [python('# filename: /etc/x\n')], said: /must be a relative path/ },
    'half a character in its code': { blocks: [python('"\ud800"')], said: /not well-formed Unicode/ },
    'a NUL in an argument': { blocks: [{ argv: ['ls', 'a\0b'] }], said: /NUL/ },
    'no program': { blocks: [{ argv: ['', 'x'] }], said: /name of the program is empty/ },
    'more arguments than init takes': {
      blocks: [{ argv: Array<string>(30).fill('x'.repeat(4000)) }],
      said: /arguments take more than/,
    },
    'a file that is also a folder': {
      blocks: [python('', 'a'), python('', 'a/b.py')],
      said: /"a" is already a folder of blocks\[1\]\.file/,
    },
    'a bundled file under a block’s file': {
      blocks: [python('', 'main.py')],
      files: [{ path: 'main.py/data', text: '' }],
      said: /"main\.py" is already a folder of files\[0\]\.path/,
    },
    'two bundled files of one name': {
      blocks: [python('')],
      files: [
        { path: 'a', text: '1' },
        { path: 'a', text: '2' },
      ],
      said: /^files\[1\]\.path: Two bundled files are named "a"/,
    },
    'a name part that no file system takes': {
      blocks: [python('', `${'ä'.repeat(200)}.py`)],
      said: /longer than 255 bytes/,
    },
  };
  for (const [what, { blocks, files, said }] of Object.entries(refused))
    test(`with ${what} is refused, by name`, () => {
      const issues = issuesOf(blocks, files);
      assert.equal(issues.length, 1, issues.join('\n'));
      assert.match(issues[0] ?? '', said);
    });
  test('may follow another one in the same file', () => {
    assert.deepEqual(issuesOf([python('1', 'main.py'), python('2', 'main.py')], [{ path: 'main.py', text: '' }]), []);
  });
  test('is told all that is wrong at once', () => {
    assert.equal(issuesOf([{ language: 'x', code: '# filename: ../a\n' }, { argv: [''] }]).length, 3);
  });
});
