import { clockSkewMs } from '@hotcell/contract/clock-skew.ts';
import type { Effective } from '@hotcell/contract/admission.ts';
import { resolveBlocks } from '@hotcell/contract/blocks.ts';
import { type Difference, differencesOf } from '@hotcell/contract/evidence/json-differences.ts';
import type { Result } from '@hotcell/contract/result.ts';
import type { Spec } from '@hotcell/contract/spec.ts';
import { recordKeys } from '../layout.ts';
import { type Asked, effectiveOf } from './read-asked.ts';
import type { Look } from './verification.ts';
import { hasProgramsEnd, saysWhatWasAsked } from './was-executed.ts';

/** Whether a run can have gone as its result says: its times, its blocks, and what it used of its limits. */
export function verifyCourse(look: Look, result: Result, asked: Asked): void {
  const key = recordKeys.result(result.tenant, result.run);
  const effective = effectiveOf(result, asked);
  for (const { path, expected, found } of [
    ...timeDifferences(result, saysWhatWasAsked(result) ? asked.spec : undefined),
    ...usageDifferences(result),
    ...(asked.spec && effective ? blockDifferences(result, asked.spec, effective) : []),
  ])
    look.findings.add('INCONSISTENT', `${key}: ${path}`, expected, found);
}

/** Nothing ends before it begins. What two hosts say may differ by as much as their clocks. */
function* timeDifferences({ timings, attempts, blocks }: Result, spec: Spec | undefined): Generator<Difference> {
  const { acceptedAt, finishedAt } = timings;
  if (spec && acceptedAt !== spec.acceptedAt)
    yield { path: 'timings.acceptedAt', expected: `${spec.acceptedAt}, as in the spec`, found: acceptedAt };
  const order = (path: string, from: string | null, until: string | null, by = 0): Difference[] =>
    from !== null && until !== null && Date.parse(until) < Date.parse(from) - by
      ? [{ path, expected: `a time from ${from} on`, found: until }]
      : [];
  yield* order('timings.finishedAt', acceptedAt, finishedAt);
  for (const [i, attempt] of attempts.entries()) {
    yield* order(`attempts[${i}].startedAt`, acceptedAt, attempt.startedAt, clockSkewMs);
    yield* order(`attempts[${i}].finishedAt`, attempt.startedAt, attempt.finishedAt);
    yield* order('timings.finishedAt', attempt.finishedAt, finishedAt, clockSkewMs);
  }
  const began = attempts.at(-1)?.startedAt ?? acceptedAt;
  for (const [i, { startedAt, finishedAt: ended }] of blocks.entries()) {
    yield* order(`blocks[${i}].startedAt`, began, startedAt, clockSkewMs);
    yield* order(`blocks[${i}].finishedAt`, startedAt, ended, clockSkewMs);
    yield* order('timings.finishedAt', ended, finishedAt, clockSkewMs);
  }
}

function* usageDifferences({ usage, outputs, limits }: Result): Generator<Difference> {
  const bytes = outputs.files.reduce((sum, { size }) => sum + size, 0);
  const kept = { outputBytes: bytes, outputFiles: outputs.files.length };
  for (const [name, value] of Object.entries(kept) as [keyof typeof kept, number][]) {
    if (usage[name] !== value)
      yield { path: `usage.${name}`, expected: `${value}, as outputs.files add up to`, found: String(usage[name]) };
    if (limits && value > limits[name])
      yield { path: 'outputs.files', expected: `at most the limit ${name} of ${limits[name]}`, found: String(value) };
  }
}

/** Each block of the spec, in its order; and a run succeeds only if all of them did. */
function* blockDifferences(result: Result, spec: Spec, { languages }: Effective): Generator<Difference> {
  const { blocks, outcome, exitCode } = result;
  if (blocks.length === 0 && !hasProgramsEnd(result)) return;
  const asked = resolveBlocks(spec.blocks, spec.files, languages).resolved;
  const told = blocks.map(({ index, language, file }) => ({ index, language, file }));
  const wanted = asked.map(({ index, language, file }) => ({ index, language, file }));
  for (const { path, expected, found } of differencesOf(wanted, told))
    yield { path: `blocks${path === '(whole)' ? '' : path}`, expected: `${expected}, as in the spec`, found };
  if (outcome !== 'succeeded') return;
  if (exitCode !== 0) yield { path: 'exitCode', expected: '0, since the run succeeded', found: String(exitCode) };
  for (const [i, block] of blocks.entries())
    if (block.outcome !== 'succeeded' || block.exitCode !== 0)
      yield {
        path: `blocks[${i}]`,
        expected: 'a block that succeeded with exit code 0, since the run succeeded',
        found: `${block.outcome ?? 'no outcome'} with exit code ${block.exitCode ?? 'none'}`,
      };
}
