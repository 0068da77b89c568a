import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { mib, openRuns, python, type Runs, runtimes } from '../limits/support/runs.ts';
import { type Bed, openBed } from '../support/bed.ts';
import { openOwnKeeper, type OwnKeeper } from '../support/own-keeper.ts';

/** Cells whose host runs out of memory before they come to their own limits. */
let bed: Bed;
let runs: Runs;
let keeper: OwnKeeper;
let installation: string;
before(async () => {
  bed = await openBed();
  const stateDir = await bed.folder('full-host');
  installation = bed.id();
  keeper = await openOwnKeeper(bed, join(stateDir, 'cache'), installation);
  runs = await openRuns(bed, 'full-host', { stateDir, keeper: keeper.socket }, installation);
});
after(async () => {
  await runs?.[Symbol.asyncDispose]();
  await keeper?.[Symbol.asyncDispose]();
  await bed?.[Symbol.asyncDispose]();
});

/** What all cells of the keeper hold together: so a machine runs out of memory for one of them. */
async function bound(bytes: number): Promise<void> {
  const root = '/sys/fs/cgroup';
  const folder = keeper.cgroup();
  const version1 = join(root, 'memory', folder);
  const file = existsSync(version1) ? join(version1, 'memory.limit_in_bytes') : join(root, folder, 'memory.max');
  await writeFile(file, String(bytes));
}

const take = (bytes: number) => `held = [bytearray(b"x" * (4 << 20)) for _ in range(${bytes / (4 * mib)})]`;
const limits = { memoryBytes: 512 * mib };

for (const runtime of runtimes)
  describe(`on ${runtime}`, () => {
    test('a run that is killed for lack of memory on its host is the platform’s failure', async () => {
      const ran = runs.run(runtime, { blocks: python(take(400 * mib)), limits, beside: () => bound(256 * mib) });
      const message = /the host's lack of memory: the run had not reached its own limit of 512 MiB/;
      await assert.rejects(ran, { code: 'cell_failed', message });
    });

    test('a run that takes more than its own limit is out of memory', async () => {
      const ran = await runs.run(runtime, { blocks: python(take(700 * mib)), limits, beside: () => bound(2048 * mib) });
      assert.equal(ran.verdict.outcome, 'out_of_memory');
    });
  });
