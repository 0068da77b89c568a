import { HotcellError, type Issue } from './errors.ts';
import { explainIssues, type Vocabulary } from './explain-issues.ts';
import { foreignFields } from './foreign-fields.ts';
import { limitNames } from './limits.ts';
import { showIssues } from './parse.ts';
import { ArgvBlock, CodeBlock, RunRequest } from './spec.ts';

/** The fields that each place of a request knows. */
const known = {
  request: Object.keys(RunRequest.shape),
  limits: [...limitNames],
  codeBlock: Object.keys(CodeBlock.shape),
  argvBlock: Object.keys(ArgvBlock.shape),
  file: ['path', 'text', 'base64'],
  retry: ['on', 'max'],
} as const;

function knownAt(path: readonly PropertyKey[], value: unknown): readonly string[] {
  if (path.length === 0) return known.request;
  if (path[0] === 'limits') return known.limits;
  if (path[0] === 'files') return known.file;
  if (path[0] === 'retry') return known.retry;
  return typeof value === 'object' && value !== null && 'argv' in value ? known.argvBlock : known.codeBlock;
}

const vocabulary: Vocabulary = {
  fieldsAt: knownAt,
  shapeOf: (value) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
    return 'argv' in value || 'base64' in value ? 1 : 0;
  },
  foreign: foreignFields,
};

const deepest = 64;

/** Checked without recursion, before anything recurses into the value. */
function tooDeep(value: unknown): boolean {
  let level: unknown[] = [value];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > deepest) return true;
    level = level.flatMap((v) => (typeof v === 'object' && v !== null ? Object.values(v) : []));
  }
  return false;
}

/** Reads the body of a request, or lists everything that is wrong with it. Never throws. */
export function readRunRequest(body: unknown): { request: RunRequest } | { issues: Issue[] } {
  if (tooDeep(body))
    return {
      issues: [{ path: '(whole)', message: `The request is nested deeper than ${deepest} levels. Make it flatter.` }],
    };
  const parsed = RunRequest.safeParse(body);
  if (parsed.success) return { request: parsed.data };
  return { issues: explainIssues(parsed.error, body, vocabulary).map(({ path, message }) => ({ path, message })) };
}

export function parseRunRequest(body: unknown): RunRequest {
  const read = readRunRequest(body);
  if ('request' in read) return read.request;
  throw new HotcellError('invalid', `The request is invalid: ${showIssues(read.issues)}`, { issues: read.issues });
}
