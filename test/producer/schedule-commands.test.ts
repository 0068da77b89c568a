import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { cliWith } from '../e2e/cli.ts';
import { openBed } from '../support/bed.ts';
import { openHouse } from '../support/house.ts';
import { settle, startProducer } from '../support/producer.ts';
import { until } from '../support/until.ts';

/** Schedules on the command line. No worker runs anything: runs that are accepted wait. */
const bed = await openBed();
const house = await openHouse(bed);
const producer = await startProducer(bed, house);
const env = { HOTCELL_HOME: await bed.folder('cli'), HOTCELL_URL: producer.url, HOTCELL_API_KEY: await producer.key() };
const cli = cliWith(env);
after(async () => {
  const hotcell = await producer.client();
  for (const { run } of (await hotcell.list({ limit: 100 })).runs) await hotcell.runById(run).cancel();
  await settle(house, producer);
  await house[Symbol.asyncDispose]();
  await bed[Symbol.asyncDispose]();
});

const schedule = (...words: string[]) => cli.run(['schedule', ...words]);

test('a schedule is made, listed, shown, paused, resumed, changed, triggered and removed', async () => {
  const cron = ['--cron', '0 6 * * 1-5', '--tz', 'Europe/Berlin'];
  const made = await schedule('create', 'nightly', ...cron, '--jitter', '5m', '--pause-after', '3', '-e', 'print(1)');
  assert.equal(made.code, 0, made.stderr);
  assert.match(made.stdout, /^schedule +nightly \(version 1 of /);
  assert.match(made.stdout, /when +0 6 \* \* 1-5 Europe\/Berlin/);
  assert.match(made.stdout, /pauses +after 3 failures/);
  const shown = (await schedule('show', 'nightly', '--json')).rows[0];
  assert.ok(Array.isArray(shown?.['next']) && shown['next'].length === 5);
  assert.match((await schedule('ls')).stdout, /nightly +0 6 \* \* 1-5 Europe\/Berlin +new /);
  assert.match((await schedule('pause', 'nightly', '--reason', 'a holiday')).stdout, /health +paused: .*a holiday/);
  assert.match((await schedule('resume', 'nightly')).stdout, /health +new/);
  const changed = await schedule('update', 'nightly', '--every', '12h', '-e', 'print(1)');
  assert.match(changed.stdout, /changed +trigger\.cron: "0 6 \* \* 1-5" → \n/);
  assert.match(changed.stdout, /when +every 12h/);
  const run = (await schedule('trigger', 'nightly')).stdout.trim();
  const line = await until('the tick has its run', async () => {
    const { stdout } = await schedule('runs', 'nightly');
    return stdout.split('\n').find((one) => one.includes(run));
  });
  assert.match(line, /\(asked for\) +run +- /);
  assert.match((await schedule('rm', 'nightly')).stderr, /Removed schedule nightly/);
  const gone = await schedule('show', 'nightly');
  assert.equal(gone.code, 1);
  assert.match(gone.stderr, /Schedule nightly not found\. \.\/hotcell schedule ls lists the schedules/);
});

test('a backfill counts its ticks; what makes no sense is refused with what to write', async () => {
  await schedule('create', 'hourly', '--every', '1h', '--anchor', '2026-01-01', '-e', 'print(1)');
  const filled = await schedule('backfill', 'hourly', '--from', '2026-02-01', '--to', '2026-02-01T03:00:00');
  assert.match(filled.stderr, /Backfilling 3 ticks of hourly/);
  for (const [words, message] of [
    [['create', 'x', '-e', 'print(1)'], /either --cron EXPRESSION, --every DURATION or --on-publish NAME/],
    [['create', 'x', '--every', '1h', '--tz', 'UTC', '-e', 'print(1)'], /--tz is for --cron/],
    [['create', 'x', '--every', 'often', '-e', 'print(1)'], /Write a duration like 90s, 15m/],
    [['create', 'x', '--cron', '0 0 31 4 *', '-e', 'print(1)'], /is not an expression of cron/],
    [['create', 'x', '--cron', '@daily', '--tz', 'Mars', '-e', 'print(1)'], /Mars is not a time zone/],
    [['create', 'x', '--every', '1h', '--idempotency-key', 'k', '-e', 'print(1)'], /unknown option .--idempotency-key/],
    [['create', 'hourly', '--every', '1h', '-e', 'print(1)'], /\.\/hotcell schedule update hourly changes it/],
    [['backfill', 'hourly', '--from', 'then', '--to', 'now'], /Write a time like 2026-11-01/],
  ] as const) {
    const { code, stderr } = await schedule(...words);
    assert.notEqual(code, 0, words.join(' '));
    assert.match(stderr, message);
  }
});

test('schedules are made from files; applied again, they stay as they are, and a change is shown by its lines', async () => {
  const folder = await bed.folder('schedules');
  const write = (file: string, text: string) => writeFile(join(folder, file), text);
  await write('report.py', 'import json\nprint("one")\nprint("two")\n');
  await write('data.csv', 'a,b\n1,2\n');
  const weekly = 'cron: 0 6 * * 1\ntz: Europe/Berlin\nscript: report.py\ninputs: { data: ./data.csv }\n';
  await write('weekly.yaml', weekly);
  await write('other.yml', 'name: often\nevery: 15m\njitter: 1m\ncode: print(1)\n');
  const apply = (...words: string[]) => schedule('apply', folder, ...words);

  const planned = await apply('--dry-run');
  assert.match(planned.stdout, /^often {2}would be new {2}\(.*other\.yml\)\nweekly {2}would be new /m);
  assert.match((await schedule('show', 'weekly')).stderr, /Schedule weekly not found/);
  const made = await apply();
  assert.equal(made.code, 0, made.stderr);
  assert.match(made.stdout, /^often {2}new .*\nweekly {2}new /m);
  assert.match((await schedule('show', 'often')).stdout, /when +every 15m\n/);

  assert.match((await apply()).stdout, /^often {2}unchanged .*\nweekly {2}unchanged /m);
  assert.match((await apply('--dry-run')).stdout, /^often {2}unchanged .*\nweekly {2}unchanged /m);
  await write('report.py', 'import json\nprint("one")\nprint("three")\n');
  await write('weekly.yaml', weekly.replace('0 6', '0 7'));
  const difference =
    /weekly {2}(would be )?changed .*\n {2}trigger\.cron: "0 6 \* \* 1" → "0 7 \* \* 1"\n {2}run\.blocks\.0 \(report\.py\)\n(.*\n)* {4}-print\("two"\)\n {4}\+print\("three"\)\n/;
  assert.match((await apply('--dry-run')).stdout, difference);
  assert.match((await schedule('show', 'weekly')).stdout, /version 1 of /);
  assert.match((await apply()).stdout, difference);
  assert.match((await schedule('show', 'weekly')).stdout, /version 2 of /);
  await write('data.csv', 'a,b\n1,3\n');
  assert.match((await apply('--dry-run')).stdout, /weekly {2}would be changed .*\n {2}run\.inputs\.data: "sha256:/);

  await schedule('create', 'stray', '--every', '1h', '-e', 'print(1)');
  assert.match((await apply()).stdout, /^stray {2}not in files; --prune removes it$/m);
  assert.match((await apply('--prune', '--dry-run')).stdout, /^stray {2}would be removed$/m);
  assert.equal((await schedule('show', 'stray')).code, 0);
  assert.match((await apply('--prune')).stdout, /^stray {2}removed$/m);
  assert.match((await schedule('show', 'stray')).stderr, /Schedule stray not found/);
});

test('a file that the API refuses holds up no other, and then nothing is pruned', async () => {
  const folder = await bed.folder('refused-schedules');
  await writeFile(join(folder, 'a.yaml'), 'every: 1h\ncode: print(1)\npolicy: no-such-policy\n');
  await writeFile(join(folder, 'b.yaml'), 'every: 1h\ncode: print(1)\n');
  const { code, stdout } = await schedule('apply', folder, '--prune');
  assert.equal(code, 1);
  assert.match(stdout, /^a {2}failed .*\n {2}.*run\.policy: .*no-such-policy.*\nb {2}new /m);
  assert.match(stdout, /^weekly {2}not in files/m);
  assert.equal((await schedule('show', 'weekly')).code, 0);
});

test('a schedule waits for the versions of a name, and says so', async () => {
  const made = await schedule('create', 'sums', '--on-publish', 'sales', '-e', 'print(1)', '--publish', 'sums');
  assert.equal(made.code, 0, made.stderr);
  assert.match(made.stdout, /when +whenever sales is published\n.*\nwaits +It waits for the next version of sales\./s);
  const self = await schedule('update', 'sums', '--on-publish', 'sums', '-e', 'print(1)', '--publish', 'sums');
  assert.match(self.stderr, /run\.publish: is the name whose versions begin the runs/);
});

test('the schedule that comes with the demo can be applied', async () => {
  const { code, stdout, stderr } = await schedule('apply', 'clients/cli/demo/schedules', '--dry-run');
  assert.equal(code, 0, stderr);
  assert.match(stdout, /^sales-report {2}would be new /m);
});
