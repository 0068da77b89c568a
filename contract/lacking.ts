import { type Missing, missingIn, missingReason } from './missing-package.ts';

/** What a failed block said that it lacks, by its own claim: a package, a file, or a keyboard. */
export type Lacking = Missing | { what: 'file'; path: string } | { what: 'keyboard' };

const lineLength = 500;
/** Node prints its stack after the error. */
const linesSearched = 20;
const path = String.raw`[\p{L}\p{N}_@+./][\p{L}\p{N}_@+ ./-]{0,199}`;

/** Each begins at the start of a line of bounded length: the job wrote it. */
const absentFile = [
  new RegExp(`^FileNotFoundError: \\[Errno 2\\] No such file or directory: '(${path})'`, 'u'),
  new RegExp(`^(?:Uncaught )?(?:Error: )?ENOENT: no such file or directory, \\w{1,20} '(${path})'`, 'u'),
  new RegExp(`^[\\w./-]{1,80}: (?:line \\d{1,9}: )?(${path}): No such file or directory$`, 'u'),
];

function lackIn(line: string): Lacking | undefined {
  if (line.startsWith('EOFError: EOF when reading a line')) return { what: 'keyboard' };
  for (const pattern of absentFile) {
    const named = pattern.exec(line)?.[1];
    if (named !== undefined) return { what: 'file', path: named };
  }
  return undefined;
}

/** What the end of stderr says is lacking; the last word counts. */
export function readLastWords(stderr: string, exitCode: number): Lacking | undefined {
  const missing = missingIn(stderr, exitCode);
  if (missing) return missing;
  const last = stderr.trimEnd().split('\n').slice(-linesSearched).toReversed();
  for (const line of last) {
    const lack = lackIn(line.slice(0, lineLength).trimEnd());
    if (lack) return lack;
  }
  return undefined;
}

/** Why the block failed, in words of the API; the command line adds its own. `inputs`: the names that the run was given. */
export function lackingReason(lacking: Lacking, inputs: readonly string[]): string {
  if (lacking.what === 'keyboard')
    return 'By its last words it waited for input from a keyboard, which a run does not have. Pass values as params and read them from /inputs/params.json.';
  if (lacking.what !== 'file') return missingReason(lacking);
  if (!/^\/inputs\b/.test(lacking.path))
    return `By its last words it did not find the file ${lacking.path}: a cell has only what the run is given. Pass data as an input and read it at /inputs/NAME, or send a small file with the run.`;
  const given = inputs.map((name) => `/inputs/${name}`).join(', ');
  return given === ''
    ? `By its last words it did not find the file ${lacking.path}: the run was given no inputs.`
    : `By its last words it did not find the file ${lacking.path}: the run was given ${given}.`;
}

/** The file that a reason written here names. */
export function fileNamedIn(reason: string): string | undefined {
  return /By its last words it did not find the file (.{1,200}?): (?:a cell has|the run was)/.exec(reason)?.[1];
}
