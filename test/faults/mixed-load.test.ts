import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { openBed } from '../support/bed.ts';
import { mixedLoad } from '../support/mixed-load.ts';

const seed = 20260101;
const steps = { echoed: 8, real: 2 } as const;

describe('a mixed load', { concurrency: 2 }, () => {
  for (const cells of ['echoed', 'real'] as const)
    test(`no promise is broken under a mixed load with one fault after the other, cells ${cells} (seed ${seed})`, async () => {
      await using bed = await openBed();
      const accepted = await mixedLoad(bed, { seed, cells, goOn: (step) => step < steps[cells] });
      assert.ok(accepted > steps[cells] * 2, `${accepted} were accepted`);
    });
});
