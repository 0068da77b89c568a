import { readFileSync } from 'node:fs';
import { messageOf } from '@hotcell/contract/errors.ts';
import { explainIssues, type Vocabulary } from '@hotcell/contract/explain-issues.ts';
import { showIssue } from '@hotcell/contract/parse.ts';
import { QuotaFile } from '@hotcell/contract/quota.ts';
import { problemAt, problemLine, readYaml, wholeFile } from '@hotcell/policies/yaml.ts';

const vocabulary: Vocabulary = {
  schema: QuotaFile,
  shapeOf: (value) => (typeof value === 'number' ? 0 : undefined),
  foreign: new Map(),
};

/** Without a file, the quotas that Hotcell is shipped with are in force. */
const noFile: QuotaFile = { version: 1 };

/** The file's quotas, or every problem with its place. */
function readQuotaFile(text: string, file: string): { quotas: QuotaFile } | { problems: string[] } {
  const yaml = readYaml(text, file);
  if ('problems' in yaml) return { problems: yaml.problems.map(problemLine) };
  const parsed = QuotaFile.safeParse(yaml.value);
  if (parsed.success) return { quotas: parsed.data };
  const issues = explainIssues(parsed.error, yaml.value, vocabulary);
  return { problems: issues.map((issue) => problemLine(problemAt(file, yaml, issue.at, showIssue(issue)))) };
}

export function loadQuotaFile(file: string | undefined): { quotas: QuotaFile } | { problems: string[] } {
  if (file === undefined) return { quotas: noFile };
  try {
    return readQuotaFile(readFileSync(file, 'utf8'), file);
  } catch (error) {
    // The installation names a file that its operator may add later.
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return { quotas: noFile };
    return { problems: [problemLine(wholeFile(file, `Could not read it: ${messageOf(error)}.`))] };
  }
}
