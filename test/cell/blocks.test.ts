import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { type Language, languages } from '@hotcell/contract/languages.ts';
import { prepareJob } from '@hotcell/executor-worker/execute/job.ts';
import { type Bed, openBed } from '../support/bed.ts';
import { ends, openTestCells, runIn, type TestCells } from '../support/cells.ts';

let bed: Bed;
let made: TestCells;
before(async () => {
  bed = await openBed();
  made = await openTestCells(bed, 'blocks');
});
after(async () => {
  await made?.[Symbol.asyncDispose]();
  await bed?.[Symbol.asyncDispose]();
});

/** Tries to get in the way of the blocks that follow, and prints what succeeded. */
const inTheWay = `# filename: tools/first.py
import os
def tried(action, *arguments):
    try:
        action(*arguments)
        return "ok"
    except OSError as error:
        return os.strerror(error.errno)
print("rename the folder:", tried(os.rename, "/work/tools", "/work/aside"))
print("link in its place:", tried(os.symlink, "/outputs/target.py", "/work/tools/second.py"))
print("folder in its place:", tried(os.makedirs, "/work/third.py/full"))
print("own code:", tried(lambda: open("/work/tools/first.py", "a")))
open("/outputs/target.py", "w").write("print('the job’s own')")
`;

for (const runtime of ['runc', 'gvisor'] as const)
  suite(`blocks on ${runtime}`, () => {
    test('are written to the folder that they name, whatever the job put there', async () => {
      const python = (code: string) => ({ language: 'python', code });
      const second = python('# filename: tools/second.py\nimport os; print(__file__, os.path.islink(__file__))');
      const third = { ...python('import os; print(__file__, os.getcwd())'), file: 'third.py' };
      const job = prepareJob({ blocks: [python(inTheWay), second, third], files: [] }, languages);
      const told = await runIn(made.cells, made.plan(runtime), job);
      assert.deepEqual(ends(told), [0, 0, 0], told.logs.join('\n'));
      assert.match(told.logs[0] ?? '', /rename the folder: (Operation not permitted|Permission denied)/);
      assert.match(told.logs[0] ?? '', /link in its place: ok\nfolder in its place: ok\nown code: Permission denied/);
      assert.match(told.logs[1] ?? '', /tools\/second\.py False\n$/);
      assert.match(told.logs[2] ?? '', /third\.py \/work\n$/);
      assert.equal(
        told.outputs.get('target.py')?.toString(),
        "print('the job’s own')",
        'nothing was written through it',
      );
    });

    test('cannot change or replace bundled files, which belong to root', async () => {
      const code = `stat -c '%a %u %g' data.txt lib/more.txt main.sh
rm -f data.txt 2> /dev/null || echo kept
mv lib/more.txt elsewhere 2> /dev/null || echo kept
cat data.txt lib/more.txt`;
      const files = [
        { path: 'data.txt', text: 'one\n' },
        { path: 'lib/more.txt', base64: Buffer.from('two\n').toString('base64') },
      ];
      const job = prepareJob({ blocks: [{ language: 'sh', code, file: 'main.sh' }], files }, languages);
      const told = await runIn(made.cells, made.plan(runtime), job);
      assert.equal(told.logs[0], '444 0 0\n444 0 0\n444 0 0\nkept\nkept\none\ntwo\n');
    });

    test('may be a program with arguments, or in a language that a policy adds', async () => {
      const perl: Language = { name: 'perl', aliases: ['pl'], command: ['perl', '-w', '{file}'], ending: '.pl' };
      const blocks = [
        { argv: ['printf', '%s|', 'a b', '$HOME', ''] },
        { language: 'pl', code: 'print "of a policy\\n";' },
        { language: 'shell', code: 'echo "of $0"' },
      ];
      const told = await runIn(made.cells, made.plan(runtime), prepareJob({ blocks, files: [] }, [...languages, perl]));
      assert.deepEqual(told.logs, ['a b|$HOME||', 'of a policy\n', 'of block_2.sh\n']);
    });

    test('name the interpreter that the image lacks', async () => {
      const lacking: [string, string][] = [
        ['pwsh', 'pwsh'],
        ['ps1', 'pwsh'],
        ['R', 'Rscript'],
        ['typescript', 'node'],
      ];
      for (const [language, program] of lacking) {
        const job = prepareJob({ blocks: [{ language, code: '1' }, { argv: ['true'] }], files: [] }, languages);
        const told = await runIn(made.cells, made.plan(runtime), job);
        assert.deepEqual(ends(told), [`the image has no ${program}: use an image that has it, or another language`]);
      }
    });
  });

test('blocks in an unknown language are refused before there is a cell, naming the known ones', () => {
  assert.throws(() => prepareJob({ blocks: [{ language: 'cobol', code: '1' }], files: [] }, languages), {
    code: 'policy_refused',
    message: /Unknown language "cobol"\. This policy allows: python, bash, sh, javascript, typescript, r, powershell/,
  });
});
