import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { findSpec } from '@hotcell/record/run-spec.ts';
import { cliWith } from '../e2e/cli.ts';
import { openBed } from '../support/bed.ts';
import { echoOn } from '../support/echo-on.ts';
import { openHouse } from '../support/house.ts';
import { settle, startProducer } from '../support/producer.ts';

/** Workflows on the command line, from a file, with a worker that echoes. */
const bed = await openBed();
const house = await openHouse(bed);
const producer = await startProducer(bed, house);
const env = { HOTCELL_HOME: await bed.folder('cli'), HOTCELL_URL: producer.url, HOTCELL_API_KEY: await producer.key() };
const cli = cliWith(env);
await house.worker('echo', { env: { HOTCELL_QUEUES: 'runc' }, steps: echoOn('runc') });
after(async () => {
  await settle(house, producer);
  await house[Symbol.asyncDispose]();
  await bed[Symbol.asyncDispose]();
});

const folder = await bed.folder('flow');
const workflow = (...words: string[]) => cli.run(['workflow', ...words]);
function write(name: string, text: string): string {
  writeFileSync(join(folder, name), text);
  return join(folder, name);
}

test('a workflow is run from a file with its code and data beside it, shown, drawn, listed and run again', async () => {
  mkdirSync(join(folder, 'data'));
  write('data/a.csv', 'one');
  write('first.sh', 'output made by the first');
  const file = write(
    'nightly.yaml',
    `name: nightly
steps:
  first: { script: first.sh, inputs: { data: ./data }, params: { day: 1 } }
  second: { code: print x, language: bash, inputs: { made: step:first } }
  third: { code: exit 3, language: bash, needs: [second] }
`,
  );
  const ran = await workflow('run', file);
  assert.equal(ran.code, 1, ran.stderr);
  assert.match(ran.stdout, /^workflow +\S+ \(nightly, of /);
  assert.match(ran.stdout, /outcome +failed at /);
  assert.match(
    ran.stdout,
    /✓ first succeeded \S+\n {2}✓ second succeeded \S+ ← first\n {4}✗ third failed \S+ ← second\n/,
  );
  assert.match(ran.stderr, /first: succeeded/);
  const id = /^workflow +(\S+)/.exec(ran.stdout)?.[1] ?? assert.fail(ran.stdout);
  const [shown] = (await workflow('show', id, '--json')).rows;
  const steps = shown?.['steps'] as { name: string; tasks: { run: string }[] }[];
  const spec = (await findSpec(house.store, house.tenant, steps[0]?.tasks[0]?.run ?? ''))?.spec;
  assert.deepEqual([spec?.params, spec?.inputs.map(({ name }) => name)], [{ day: 1 }, ['data']]);
  const drawn = (await workflow('graph', id)).stdout;
  assert.match(drawn, /^flowchart TD\n {2}s0\["first<br\/>succeeded"\]:::succeeded\n/);
  assert.match(drawn, /s0 --> s1\n {2}s1 --> s2\n/);
  assert.match((await workflow('ls')).stdout, new RegExp(`${id} +nightly +\\S+ +failed`));
  const again = await workflow('rerun', id, '--json');
  const [ended] = again.rows.slice(-1) as { from: string; steps: { tasks: { state: string }[] }[] }[];
  assert.deepEqual(
    [ended?.from, ended?.steps.map(({ tasks }) => tasks[0]?.state)],
    [id, ['reused', 'reused', 'failed']],
  );
});

test('what is wrong with a file is said with the step and the field', async () => {
  for (const [text, message] of [
    ['name: x\nsteps:\n  a: { script: none.py }\n', /File not found: .*none\.py/],
    ['name: x\nsteps:\n  a: { code: print(1), script: first.sh }\n', /steps\.a: say what to run, either/],
    ['name: x\nsteps:\n  a: { cod: print(1) }\n', /cod/],
    [
      'name: x\nsteps:\n  a: { code: print(1), inputs: { d: step:b } }\n',
      /steps\.a\.run\.inputs\.d: There is no step b/,
    ],
    ['name: x\nsteps: [\n', /is not YAML/],
    ['name: x\nsteps:\n  a: { code: print(1), files: [../first.sh] }\n', /steps\.a\.files/],
  ] as const) {
    const { code, stderr } = await workflow('run', write('wrong.yaml', text));
    assert.equal(code, 1, text);
    assert.match(stderr, message);
  }
  assert.match((await workflow('run', join(folder, 'no.yaml'))).stderr, /File not found/);
  assert.match(
    (await workflow('show', 'none')).stderr,
    /There is no workflow none\. \.\/hotcell workflow ls lists the workflows/,
  );
});
