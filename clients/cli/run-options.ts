import { type LimitRow, limitTable } from '@hotcell/contract/limits.ts';
import { emptyWorkspace } from '@hotcell/contract/workspace.ts';
import { parseBytes } from '@hotcell/contract/sizes.ts';
import { type Command, InvalidArgumentError, Option } from 'commander';

type LimitOption = NonNullable<LimitRow['option']>;

export interface RunOptions extends Partial<Record<LimitOption, number>> {
  eval?: string;
  lang?: string;
  policy?: string;
  image?: string;
  input?: Pair[];
  exclude?: string[];
  file?: string[];
  param?: Pair[];
  env?: Pair[];
  label?: Pair[];
  name?: string;
  priority?: number;
  publish?: string;
  callback?: string;
  workspace?: string;
  workspacePublish?: string;
  idempotencyKey?: string;
}

/** What an option means where it isn't about a single run. */
type OtherHelp = Partial<Record<LimitOption | 'publish' | 'callback', string>>;

export type Pair = readonly [name: string, value: string];

const collect = (value: string, before: string[] = []) => [...before, value];

function collectPair(value: string, before: Pair[] = []): Pair[] {
  const at = value.indexOf('=');
  if (at < 1) throw new InvalidArgumentError(`Write it as NAME=VALUE.`);
  return [...before, [value.slice(0, at), value.slice(at + 1)]];
}

export function aNumber(value: string): number {
  const number = Number(value);
  if (value.trim() === '' || !Number.isFinite(number)) throw new InvalidArgumentError(`${value} is not a number.`);
  return number;
}

function seconds(value: string): number {
  if (/^[0-9.]+\s*[a-z]+$/i.test(value)) throw new InvalidArgumentError('Write it in seconds, for example 90.');
  return aNumber(value);
}

function aSize(value: string): number {
  const bytes = parseBytes(value);
  if (bytes === undefined) throw new InvalidArgumentError('Write a size like 512m or 2g.');
  return bytes;
}

export const pairOption = (flags: string, description: string) => new Option(flags, description).argParser(collectPair);

export const inputOption = () =>
  pairOption(
    '--input <name=src>',
    'mount read-only at /inputs/NAME: a folder, a file, a snapshot’s id or name, RUN:outputs, or s3://…',
  );

export const excludeOption = () =>
  new Option('--exclude <pattern>', 'leave this out of a local folder; written as in .gitignore').argParser(collect);

export const paramOption = () =>
  pairOption('--param <key=value>', 'a value in /inputs/params.json, parsed as JSON if possible');

/** Of what is begun once. Each item of a batch and each tick of a schedule has one run anyway. */
export const idempotencyOption = () =>
  new Option('--idempotency-key <key>', 'repeating a key and request gives the same run');

/** The arguments and options of `run` and `submit` that describe a run. */
export function takeRequest(command: Command): Command {
  return takeTerms(takeCode(command)).addOption(idempotencyOption());
}

/** What is to run: files, or code on the command line. */
export function takeCode(command: Command): Command {
  return command
    .argument('[file...]', 'one block each, in the language of its file ending; - reads stdin')
    .option('-e, --eval <code>', 'run this code')
    .option('--lang <language>', 'the language of -e, - and of files with an unknown ending (default: python)');
}

/** Under what it runs: policy, image, inputs, limits, and what it is called. */
export function takeTerms(command: Command, said: OtherHelp = {}): Command {
  command
    .option('--policy <name>', 'the policy of the run (default: sealed)')
    .option('--image <name>', 'an image that the policy allows')
    .addOption(inputOption())
    .addOption(excludeOption());
  for (const { unit, help, option } of Object.values(limitTable))
    if (option !== undefined)
      command.option(
        `--${option} <${unit === 'bytes' ? 'size' : unit === 'seconds' ? 'seconds' : 'number'}>`,
        said[option] ?? help,
        unit === 'bytes' ? aSize : unit === 'seconds' ? seconds : aNumber,
      );
  return command
    .option(
      '--workspace <src>',
      `lay this out writable in /work and keep what is there at the end: as --input, or ${emptyWorkspace}`,
    )
    .option('--workspace-publish <name>', 'name what is in /work at the end when the run succeeds')
    .addOption(new Option('--file <path>', 'add a file to /work without running it').argParser(collect))
    .addOption(paramOption())
    .addOption(pairOption('--env <key=value>', 'an environment variable that the policy allows'))
    .addOption(pairOption('--label <key=value>', 'a label to find the run by'))
    .option('--name <name>', 'what to call the run in lists: its label "name" (default: the first file)')
    .option('--priority <number>', '0 to 9, higher is sooner', aNumber)
    .option('--publish <name>', said.publish ?? 'publish the outputs under this snapshot name when the run succeeds')
    .option('--callback <url>', said.callback ?? 'tell this address when the run has ended (docs/webhooks.md)');
}
