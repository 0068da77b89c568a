import { after, before, describe } from 'node:test';
import { type Bed, openBed } from '../../support/bed.ts';
import { runtimes } from './init.ts';

/** Runs the same tests on both runtimes: what a block sees and init reports must not depend on the runtime. */
type Tests = (runtime: (typeof runtimes)[number], bed: () => Bed) => void;

export const onBothRuntimes = (what: string, tests: Tests) => onRuntimes(runtimes, what, tests);

export function onRuntimes(some: readonly (typeof runtimes)[number][], what: string, tests: Tests): void {
  for (const runtime of some) {
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
