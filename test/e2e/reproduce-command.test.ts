import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Bed, openBed } from '../support/bed.ts';
import type { Child } from '../support/child.ts';
import { type House, openHouse } from '../support/house.ts';
import { type RunningProducer, settle, startProducer } from '../support/producer.ts';
import { spawnWorker } from '../support/real-worker.ts';
import { verdictsOf } from '../support/verified.ts';
import { cliWith } from './cli.ts';

let bed: Bed;
let house: House;
let producer: RunningProducer;
let worker: Child;
let cli: ReturnType<typeof cliWith>;

before(async () => {
  bed = await openBed();
  house = await openHouse(bed);
  producer = await startProducer(bed, house);
  worker = await spawnWorker(bed, house, 'one');
  const folder = await bed.folder('reproduce');
  cli = cliWith({ HOTCELL_HOME: folder, HOTCELL_URL: producer.url, HOTCELL_API_KEY: await producer.key() });
});
after(async () => {
  await settle(house, producer);
  await worker.stop();
  await house[Symbol.asyncDispose]();
  await bed[Symbol.asyncDispose]();
});

async function ran(code: string): Promise<string> {
  const { rows } = await cli.run(['run', '--json', '-e', code, '--policy', 'analytics']);
  return String(rows[0]?.['run']);
}

test('reproduce says that a run comes out with the same bytes, and its own run has evidence', async () => {
  const origin = await ran('open("/outputs/a.csv", "w").write("x\\n1\\n")\nopen("/outputs/b", "w").write("b")');
  const { code, stdout, stderr } = await cli.run(['reproduce', origin]);
  assert.equal(code, 0, stderr);
  assert.match(
    stdout,
    new RegExp(`^Identical: run (\\S+) ended like ${origin}, with the same bytes in 2 output files`),
  );
  const again = /run (\S+)/.exec(stdout)?.[1] ?? '';
  const verdicts = await verdictsOf(house);
  assert.deepEqual([verdicts.get(origin)?.verdict, verdicts.get(again)?.verdict], ['VALID', 'VALID']);
});

test('reproduce names the outputs that differ, and of tables the first rows', async () => {
  const write = [
    'import uuid, duckdb',
    'open("/outputs/same", "w").write("s")',
    'one = uuid.uuid4().hex',
    'open("/outputs/t.csv", "w").write(f"day,value\\n1,a\\n2,{one}\\n3,c\\n")',
    `duckdb.sql(f"COPY (SELECT 1 AS day, '{one}' AS value) TO '/outputs/t.parquet'")`,
    'open("/outputs/" + one, "w").write("x")',
  ];
  const origin = await ran(write.join('\n'));
  const { code, stdout, stderr } = await cli.run(['reproduce', origin]);
  assert.equal(code, 1, stderr);
  assert.match(stdout, new RegExp(`^Different: run \\S+ did not come out like ${origin}`));
  assert.match(stdout, /added .*\n|removed .*\n/);
  assert.match(stdout, /changed +t\.csv/);
  assert.match(stdout, /t\.csv: 3 rows\nROW +day +value\n2 +before +2 +[0-9a-f]{32}\n +after +2 +[0-9a-f]{32}\n/);
  assert.match(stdout, /t\.parquet: 1 row\nROW +day +value\n1 +before +1 +[0-9a-f]{32}\n/);
  const json = await cli.run(['reproduce', origin, '--json']);
  assert.equal(json.code, 1);
  assert.equal(json.rows[0]?.['identical'], false);
});
