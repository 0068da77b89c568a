import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { readSchedules } from '@hotcell/cli/schedule-file.ts';

let folder: string;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'schedules-'));
});
after(() => rm(folder, { recursive: true }));

const write = (file: string, text: string) => writeFile(join(folder, file), text);
const refused = (message: RegExp) => assert.rejects(readSchedules([folder]), { code: 'invalid', message });

test('a file has the options of a schedule and of its runs; its paths are seen from its folder', async () => {
  await write('report.py', 'print(1)\n');
  await write(
    'weekly.yaml',
    'cron: 0 6 * * 1\ndeadline: 90s\nscript: report.py\ninputs: { a: daily, b: ./report.py }\n',
  );
  await write(
    'often.yml',
    'name: x\nevery: 15m\nanchor: 2026-01-01T00:00:00Z\npauseAfter: 3\njitter: 1m\ncode: print(1)\n',
  );
  const [often, weekly] = await readSchedules([join(folder, 'often.yml'), folder]);
  assert.deepEqual([often?.name, weekly?.name], ['x', 'weekly']);
  assert.deepEqual(await often?.application(assert.fail), {
    trigger: { everySeconds: 900, anchor: '2026-01-01T00:00:00Z' },
    jitterSeconds: 60,
    pauseAfterFailures: 3,
    run: { blocks: [{ language: 'python', code: 'print(1)' }] },
  });
  const uploads: string[] = [];
  const asked = await weekly?.application(async (path) => `uploaded-${uploads.push(path)}`);
  assert.deepEqual(uploads, [join(folder, 'report.py')]);
  assert.deepEqual(asked, {
    trigger: { cron: '0 6 * * 1' },
    deadlineSeconds: 90,
    run: {
      blocks: [{ language: 'python', code: 'print(1)\n', file: 'report.py' }],
      inputs: { a: 'daily', b: 'uploaded-1' },
    },
  });
});

test('what makes no schedule is refused with the name of the file and what to write', async () => {
  await rm(join(folder, 'often.yml'), { force: true });
  for (const [text, message] of [
    ['every: often\ncode: print(1)\n', /weekly\.yaml.*every: must be a duration like 90s, 15m/],
    ['every: 15\ncode: print(1)\n', /weekly\.yaml.*every: /],
    ['code: print(1)\n', /weekly\.yaml: say when to run, either with "cron", "every" or "onPublish"/],
    ['cron: "@daily"\nevery: 1h\ncode: print(1)\n', /weekly\.yaml: say when to run/],
    ['cron: "@daily"\nanchor: 2026-01-01\ncode: print(1)\n', /"anchor" is for "every"/],
    ['every: 1h\ntz: UTC\ncode: print(1)\n', /"tz" is for "cron"/],
    ['every: 1h\n', /weekly\.yaml: say what to run, either with "script" or with "code"/],
    ['every: 1h\ncode: print(1)\nevry: 2h\n', /weekly\.yaml.*evry/],
    ['every: 1h\nscript: gone.py\n', /File not found: .*gone\.py/],
    ['every: [\n', /weekly\.yaml is not YAML/],
    ['- 1\n', /weekly\.yaml/],
  ] as const) {
    await write('weekly.yaml', text);
    await refused(message);
  }
});

test('two files of one name, a folder without schedules and a path that is not there are refused', async () => {
  await write('weekly.yaml', 'every: 1h\ncode: print(1)\n');
  await write('other.yaml', 'name: weekly\nevery: 1h\ncode: print(1)\n');
  await refused(/other\.yaml and .*weekly\.yaml are both named weekly/);
  await rm(join(folder, 'other.yaml'));
  await rm(join(folder, 'weekly.yaml'));
  await refused(/has no file that ends in \.yaml or \.yml/);
  await assert.rejects(readSchedules([join(folder, 'gone')]), { message: /File not found: .*gone/ });
});
