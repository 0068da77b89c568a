import type { BatchVerdict, Finding, RunVerdict } from '@hotcell/contract/evidence/verdict.ts';
import { counted } from '@hotcell/contract/format.ts';
import { visibleLine } from './visible.ts';

/** What `verify` prints of a run. */
export function runVerdictText({
  run,
  verdict,
  outcome,
  signedBy,
  findings,
  attempts = [],
  ignored = [],
  erased,
}: RunVerdict): string {
  const gone = erased
    ? `  erased at ${erased.at} by ${visibleLine(erased.by)} (${visibleLine(erased.reason)}): the digests of its code, log and outputs are what was verified\n`
    : '';
  const others = attempts.map(
    (one) =>
      `  attempt ${one.attempt} by ${visibleLine(one.worker)} does not count: ${visibleLine(one.ended)}${one.isSigned ? '' : ' (not signed)'}\n`,
  );
  const strangers = ignored.map(
    ({ object, problem }) => `  ${visibleLine(object)} does not count: ${visibleLine(problem)}\n`,
  );
  const how = outcome === undefined ? '' : ` ${outcome}`;
  return `${verdict} ${run}${how}${signerText(signedBy)}\n${gone}${[...others, ...strangers].join('')}${findingLines(findings)}`;
}

/** And of a batch. */
export function batchVerdictText({ batch, verdict, items, counts, signedBy, findings }: BatchVerdict): string {
  const of = items === undefined ? '' : ` of ${counted(items, 'item')}`;
  const ends = Object.entries(counts ?? {}).flatMap(([how, count]) => (count > 0 ? [`${count} ${how}`] : []));
  const how = ends.length > 0 ? `: ${ends.join(', ')}` : '';
  return `${verdict} ${batch} batch${of}${how}${signerText(signedBy)}\n${findingLines(findings)}`;
}

function signerText(signedBy: RunVerdict['signedBy']): string {
  return signedBy ? `, signed by ${signedBy.role} ${visibleLine(signedBy.name)} (${signedBy.key.slice(0, 19)}…)` : '';
}

const findingLines = (findings: readonly Finding[]) =>
  findings
    .map(
      (one) =>
        `  ${one.verdict} ${visibleLine(one.object)}\n    expected ${visibleLine(one.expected)}\n    found    ${visibleLine(one.found)}\n`,
    )
    .join('');
