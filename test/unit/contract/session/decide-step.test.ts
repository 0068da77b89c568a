import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decideStep, type StepFacts } from '@hotcell/contract/session/decide-step.ts';
import { testLimits } from '../../../support/limits.ts';

const ended: StepFacts = {
  exitCode: 0,
  signal: null,
  timedOut: false,
  interrupted: false,
  oomKills: 0,
  startError: null,
  wallMs: 10,
  said: undefined,
  seconds: 5,
  limits: testLimits,
  inInterpreter: false,
  namesLost: false,
  stopped: false,
};
const ok = { status: 'ok', exitCode: 0, error: undefined } as const;
const inPython = { ...ended, exitCode: null, inInterpreter: true, said: ok };
const interruptedThere = { status: 'interrupted', exitCode: 130, error: undefined } as const;

const cases: [what: string, facts: StepFacts, outcome: string, exitCode: number | null, saidBy: string][] = [
  ['a program that ends with 0', ended, 'succeeded', 0, 'cell'],
  ['one that fails', { ...ended, exitCode: 3 }, 'failed', 3, 'cell'],
  ['one that a signal ends', { ...ended, exitCode: null, signal: 11 }, 'failed', 139, 'cell'],
  ['what the interpreter says', inPython, 'succeeded', 0, 'job'],
  ['a claim of success after the time was over', { ...inPython, timedOut: true }, 'timed_out', null, 'cell'],
  [
    'an interrupt that the program obeyed',
    { ...inPython, interrupted: true, said: interruptedThere },
    'cancelled',
    130,
    'job',
  ],
  ['an interrupt that came too late', { ...ended, interrupted: true }, 'succeeded', 0, 'cell'],
  ['one killed for memory', { ...ended, exitCode: null, signal: 9, oomKills: 1 }, 'out_of_memory', null, 'cell'],
  ['one that could not start', { ...ended, exitCode: null, startError: 'no program' }, 'failed', 127, 'cell'],
  ['one in a session that was stopped', { ...ended, exitCode: null, stopped: true }, 'cancelled', null, 'cell'],
];

for (const [what, facts, outcome, exitCode, saidBy] of cases)
  test(`a step: ${what} is ${outcome}`, () => {
    const verdict = decideStep(facts);
    assert.deepEqual([verdict.outcome, verdict.exitCode, verdict.saidBy], [outcome, exitCode, saidBy]);
  });

test('a step that ended the interpreter says that the names are gone', () => {
  assert.match(decideStep({ ...inPython, said: undefined, exitCode: 1 }).reason, /finds a new one/);
  assert.doesNotMatch(decideStep(inPython).reason, /finds a new one/);
  assert.match(decideStep({ ...inPython, namesLost: true }).reason, /in a new interpreter, without the names/);
});
