import { HotcellError, type Issue } from './errors.ts';
import { explainIssues, type Vocabulary } from './explain-issues.ts';
import { foreignFields } from './foreign-fields.ts';
import { showIssues } from './parse.ts';
import { type AskedRun, RunRequest, SessionRequest } from './spec.ts';

const vocabulary: Vocabulary = {
  schema: RunRequest,
  shapeOf: (value) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
    return 'argv' in value || 'base64' in value ? 1 : 0;
  },
  foreign: foreignFields,
};

const sessionVocabulary: Vocabulary = { ...vocabulary, schema: SessionRequest };

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

const tooDeepIssues = [
  { path: '(whole)', message: `The request is nested deeper than ${deepest} levels. Make it flatter.` },
];

/** Reads the body of a request, or lists everything that is wrong with it. Never throws. */
export function readRunRequest(body: unknown): { request: RunRequest } | { issues: Issue[] } {
  if (tooDeep(body)) return { issues: tooDeepIssues };
  const parsed = RunRequest.safeParse(body);
  if (parsed.success) return { request: parsed.data };
  return { issues: explainIssues(parsed.error, body, vocabulary).map(({ path, message }) => ({ path, message })) };
}

export function parseRunRequest(body: unknown): RunRequest {
  const read = readRunRequest(body);
  if ('request' in read) return read.request;
  throw invalid(read.issues);
}

/** The same of a session, as admission judges it: a run without blocks yet. */
export function parseSessionRequest(body: unknown): AskedRun {
  if (tooDeep(body)) throw invalid(tooDeepIssues);
  const parsed = SessionRequest.safeParse(body);
  if (parsed.success) return { ...parsed.data, blocks: [], session: parsed.data.session ?? {} };
  throw invalid(explainIssues(parsed.error, body, sessionVocabulary).map(({ path, message }) => ({ path, message })));
}

const invalid = (issues: readonly Issue[]) =>
  new HotcellError('invalid', `The request is invalid: ${showIssues(issues)}`, { issues });
