import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { observationIn } from '../hostile/support/load.ts';
import { type Bed, openBed } from '../support/bed.ts';
import { greedy } from './support/resources.ts';
import { openRuns, python, runtimes, type Runs, wrote } from './support/runs.ts';
import { startWeak } from './support/weak.ts';

const helpers = await readFile(join(import.meta.dirname, '../hostile/support/attack.py'), 'utf8');
const files = [{ path: 'attack.py', text: helpers }];
const named = Object.fromEntries(greedy.map(({ takes, code }) => [takes, code]));

let bed: Bed;
let runs: Runs;
before(async () => {
  bed = await openBed();
  runs = await openRuns(bed, 'resources');
});
after(async () => {
  await runs?.[Symbol.asyncDispose]();
  await bed?.[Symbol.asyncDispose]();
});

for (const runtime of runtimes)
  suite(`on ${runtime}`, () => {
    let sealed: ReadonlyMap<string, string>;
    let weak: ReadonlyMap<string, string>;
    before(async () => {
      await using unlimited = await startWeak(bed, runtime, named);
      const ran = await runs.run(runtime, { blocks: python(...Object.values(named)), files });
      assert.equal(ran.verdict.outcome, 'succeeded', `${ran.verdict.reason}: ${JSON.stringify(ran.rows.at(-1))}`);
      sealed = new Map(greedy.map(({ takes }, block) => [takes, wrote(ran, block).toString()]));
      weak = await unlimited.said();
    });

    for (const { line, takes, refused } of greedy)
      test(`a cell refuses a program ${takes} beyond its limit (${line}), unlike a container without one`, () => {
        const { seen } = observationIn(sealed.get(takes) ?? '', takes, 'the cell');
        assert.ok([refused[runtime]].flat().includes(String(seen)), `the cell said ${String(seen)}`);
        assert.equal(observationIn(weak.get(takes) ?? '', takes, 'the weak container')['seen'], 'ok');
      });
  });
