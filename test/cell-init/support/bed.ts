import { after, before, describe } from 'node:test';
import { type Bed, openBed } from '../../support/bed.ts';
import { runtimes } from './init.ts';

/** Runs the same tests on both runtimes: what a block sees and init reports must not depend on the runtime. */
export function onBothRuntimes(
  what: string,
  tests: (runtime: (typeof runtimes)[number], bed: () => Bed) => void,
): void {
  for (const runtime of runtimes) {
    describe(`${what} (${runtime})`, () => {
      let bed: Bed | undefined;
      before(async () => {
        bed = await openBed();
      });
      after(() => bed?.[Symbol.asyncDispose]());
      tests(runtime, () => {
        if (!bed) throw new Error('the bed is not open');
        return bed;
      });
    });
  }
}
