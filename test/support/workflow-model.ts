import type { Outcome } from '@hotcell/contract/outcomes.ts';
import type { StepState } from '@hotcell/contract/workflow.ts';
import { randomFrom } from './random.ts';

/** A step of a random workflow. Those that it names come before it. */
export interface ModelStep {
  name: string;
  needs: string[];
  onFailedNeed: 'skip' | 'fail' | 'run';
  when: { step: string; outcome: Outcome }[];
  /** How many items it fans out over; 0: it doesn't. */
  fan: number;
  /** Its runs fail. */
  fails: boolean;
}

/** The same steps for the same seed. */
export function randomSteps(seed: number, count: number): ModelStep[] {
  const random = randomFrom(seed);
  const below = (most: number) => Math.floor(random() * most);
  const rules = ['skip', 'skip', 'fail', 'run'] as const;
  const steps: ModelStep[] = [];
  for (let i = 0; i < count; i++) {
    // Most needs are near, so that there are long chains; without a need, a step begins at once.
    const some = (most: number) =>
      i === 0 ? [] : Array.from({ length: below(most) }, () => `s${i - 1 - below(Math.min(i, 12))}`);
    steps.push({
      ...{ name: `s${i}`, needs: [...new Set(some(3))], onFailedNeed: rules[below(rules.length)] ?? 'skip' },
      when: random() < 0.15 ? some(2).map((step) => ({ step, outcome: random() < 0.5 ? 'failed' : 'succeeded' })) : [],
      ...{ fan: random() < 0.1 ? 1 + below(4) : 0, fails: random() < 0.12 },
    });
  }
  return steps;
}

/** How each step ends and how many runs it has: by the rules as they are documented, in one pass without leaders. */
export function modelledEnds(steps: readonly ModelStep[]): Map<string, { state: StepState; runs: number }> {
  const ends = new Map<string, { state: StepState; runs: number }>();
  for (const { name, needs, onFailedNeed, when, fan, fails } of steps) {
    const failed = needs.some((need) => ends.get(need)?.state !== 'succeeded');
    const holds = when.every(({ step, outcome }) => {
      const end = ends.get(step);
      // One that had no run ended in no way that a condition could want.
      return end !== undefined && end.runs > 0 && end.state === outcome;
    });
    if (failed && onFailedNeed !== 'run')
      ends.set(name, { state: onFailedNeed === 'fail' ? 'failed' : 'skipped', runs: 0 });
    else if (!holds) ends.set(name, { state: 'skipped', runs: 0 });
    else ends.set(name, { state: fails ? 'failed' : 'succeeded', runs: Math.max(1, fan) });
  }
  return ends;
}
