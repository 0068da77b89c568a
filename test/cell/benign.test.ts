import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { languageOfFile, languages } from '@hotcell/contract/languages.ts';
import { prepareJob } from '@hotcell/executor-worker/execute/job.ts';
import { type Bed, openBed } from '../support/bed.ts';
import { ends, openTestCells, runIn, type TestCells, type Told } from '../support/cells.ts';

/** Ordinary programs that a cell must not hinder: each is a file and exits with 0. */
const folder = join(import.meta.dirname, 'benign');
const images = ['python', 'node'] as const;
const filesOf = async (image: (typeof images)[number]) => (await readdir(join(folder, image))).toSorted();
const programs = { python: await filesOf('python'), node: await filesOf('node') };

let bed: Bed;
let cells: TestCells;
before(async () => {
  bed = await openBed();
  cells = await openTestCells(bed, 'benign');
});
after(async () => {
  await cells?.[Symbol.asyncDispose]();
  await bed?.[Symbol.asyncDispose]();
});

for (const runtime of ['runc', 'gvisor'] as const)
  for (const image of images)
    suite(`in a cell of the ${image} image on ${runtime}`, () => {
      let told: Told;
      before(async () => {
        const blocks = await Promise.all(
          programs[image].map(async (file) => ({
            // A module's ending names no language: the program that runs it does.
            language: languageOfFile(languages, file)?.name ?? (file.endsWith('.sh') ? 'bash' : 'javascript'),
            code: await readFile(join(folder, image, file), 'utf8'),
            file,
          })),
        );
        const job = prepareJob({ blocks: blocks.map(asBash), files: [] }, languages);
        told = await runIn(cells.cells, cells.plan(runtime, { image: bed.images[image] }), job);
      });
      for (const [index, file] of programs[image].entries())
        test(`${file} runs as it does anywhere else`, () => {
          const end = ends(told)[index];
          assert.equal(
            end,
            0,
            `it ended with ${end ?? 'nothing: an earlier one failed'} and said:\n${told.logs[index]}`,
          );
        });
    });

/** Job control needs bash; by its ending alone the file would run in sh. */
function asBash<B extends { language: string }>(block: B): B {
  return block.language === 'sh' ? { ...block, language: 'bash' } : block;
}
