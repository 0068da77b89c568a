import { languages } from '@hotcell/contract/languages.ts';
import { limitNames, limitTable, showLimit } from '@hotcell/contract/limits.ts';
import { ceilings, showCeiling } from '@hotcell/contract/request-ceilings.ts';
import { outcomeNames, outcomeTable } from '@hotcell/contract/outcomes.ts';

const table = (heads: readonly string[], rows: readonly (readonly string[])[]) =>
  [heads, heads.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`).join('\n');
const code = (text: string) => `\`${text}\``;

const limitRows = limitNames.map((name) => {
  const { min, max, help, option } = limitTable[name];
  return [code(name), help, option ? code(`--${option}`) : '', showLimit(name, min), showLimit(name, max)];
});
const ceilingRows = Object.values(ceilings).map((ceiling) => [ceiling.what, showCeiling(ceiling)]);
const outcomeRows = outcomeNames.map((name) => {
  const { exitCode, retry, means } = outcomeTable[name];
  return [code(name), means, exitCode === null ? 'the program’s own' : String(exitCode), retry ? 'yes' : ''];
});
const languageRows = languages.map(({ name, aliases, ending, command }) => [
  code(name),
  aliases.map(code).join(' '),
  code(`NAME${ending}`),
  code(command.join(' ')),
]);

/** docs/reference.md, whole. */
export function reference(): string {
  return `${[
    '# Reference',
    'Limits, requests, outcomes and languages, made from the tables in `contract/` (`sh setup/node.sh test/docs/generate.ts`).',
    '## Limits',
    'A policy gives each limit a default, a minimum and a maximum ([policies.md](policies.md)). No policy can go below the floor or above the ceiling. A request names limits under `limits`; the command line has options for the most common ones.',
    table(['limit', 'bounds', 'option', 'floor', 'ceiling'], limitRows),
    '## Requests',
    'The most of each that one request can hold, whatever its policy. The whole body is limited to 64 MiB. Larger data is an input.',
    table(['what', 'at most'], ceilingRows),
    '## Outcomes',
    'Every run ends with exactly one outcome. A request may ask for another try after those marked as retryable (`retry.on`).',
    table(['outcome', 'meaning', 'exit code of `run` and `wait`', 'retryable'], outcomeRows),
    '## Languages',
    'A block names its language by name, alias or file ending. A policy allows a subset and may add its own; the image brings the interpreter.',
    table(['language', 'aliases', 'file', 'command'], languageRows),
  ].join('\n\n')}\n`;
}
