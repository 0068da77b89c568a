import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sha256 } from '@hotcell/contract/digest.ts';
import { parseOurs } from '@hotcell/contract/parse.ts';
import { chained, ChainedStep, mostChainedOutputs, type StepResult } from '@hotcell/contract/session/step.ts';

const digest = sha256('');
const at = '2026-11-19T12:00:00.000Z';

function resultOf(index: number, outputs: number): StepResult {
  const output = { kind: 'display' as const, display: 0, type: `${'t'.repeat(60)}/${'s'.repeat(60)}`, size: 1 };
  return {
    ...{
      version: 1,
      run: 'run_01jd2m3n4p5q6r7s8t9v0w1x2y',
      tenant: 'acme',
    },
    ...{ index, language: 'python', outcome: 'succeeded', exitCode: 0, saidBy: 'job', signal: null, reason: '' },
    ...{ startedAt: at, finishedAt: at, step: digest, code: digest, refused: [] },
    usage: { wallMs: 1, cpuMs: 1, peakMemoryBytes: 1, logBytes: 0 },
    log: { sha256: digest, bytes: 0, rows: [] },
    outputs: Array.from({ length: outputs }, () => ({ ...output, sha256: digest, text: 'x' })),
  };
}

test('the result of the largest session stays small, and counts what it does not name', () => {
  const chain: ChainedStep[] = [];
  for (let index = 0; index < 1000; index++) chain.push(chained(resultOf(index, 64), digest, chain));
  const named = chain.reduce((sum, { outputs }) => sum + outputs.length, 0);
  const counted = chain.reduce((sum, { outputsLeftOut = 0 }) => sum + outputsLeftOut, 0);
  assert.deepEqual([named, counted], [mostChainedOutputs, 64_000 - mostChainedOutputs]);
  assert.ok(JSON.stringify(chain).length < 2 * 1024 ** 2);
});

test('a step names its outputs without their text, and no count where none is left out', () => {
  const step = chained(resultOf(0, 2), digest, []);
  assert.ok(step.outputs.length === 2 && !('text' in (step.outputs[0] ?? {})) && !('outputsLeftOut' in step));
  assert.deepEqual(parseOurs(ChainedStep, JSON.stringify(step), 'a step'), step);
});
