import { explainIssues, type Vocabulary } from '@hotcell/contract/explain-issues.ts';
import { forEachLimit } from '@hotcell/contract/limits.ts';
import { PolicyName } from '@hotcell/contract/names.ts';
import { Role } from '@hotcell/contract/apikey.ts';
import { showIssue } from '@hotcell/contract/parse.ts';
import { parseBytes } from '@hotcell/contract/sizes.ts';
import { z } from 'zod';
import { type PlacedProblem, problemAt, readYaml } from '../yaml.ts';

/** `1GiB`, `1GiB + 1`, or a plain number: an edge is often one byte beyond a limit. */
const size = z.union([z.number(), z.string()], { error: 'must be a number or a size' }).transform((value, ctx) => {
  if (typeof value === 'number') return value;
  const [, base = '', sign, more = '0'] = /^(.*?)(?: ?([+-]) ?(\d+))?$/.exec(value) ?? [];
  const bytes = parseBytes(base);
  if (bytes !== undefined) return sign === '-' ? bytes - Number(more) : bytes + Number(more);
  ctx.addIssue({ code: 'custom', message: `"${value}" is not a size. Write it like 1GiB or 1GiB + 1.` });
  return z.NEVER;
});

const limits = z.strictObject(forEachLimit(() => size.optional()));
const oneOrMore = z
  .union([z.string(), z.array(z.string()).min(1)], { error: 'must be a part of a message, or a list of them' })
  .transform((said) => [said].flat());

export const ExpectedAdmission = z.strictObject({
  image: z.string().optional(),
  runtime: z.string().optional(),
  queue: z.string().optional(),
  priority: z.number().optional(),
  pastLimit: z.string().optional(),
  verifyEachUse: z.boolean().optional(),
  imageEnv: z.array(z.string()).optional(),
  limits: limits.optional(),
});
export type ExpectedAdmission = z.output<typeof ExpectedAdmission>;

export const PolicyTest = z
  .strictObject({
    name: z.string().min(1),
    as: Role.default('submitter'),
    /** Merged over a request that prints; any JSON is allowed, as over HTTP. */
    request: z.record(z.string(), z.unknown()).default({}),
    limits: limits.optional(),
    /** The total size of the inputs. */
    inputs: z
      .strictObject({
        count: z.number().int().min(1).default(1),
        bytes: size.default(0),
        files: z.number().int().default(0),
      })
      .optional(),
    admitted: z
      .union([z.literal(true), ExpectedAdmission], { error: 'must be true, or a map of what was admitted' })
      .optional(),
    /** Parts of the submitter's warnings; [] means none. */
    warnings: z.array(z.string()).optional(),
    /** Every reason: the field, and a part of its message. */
    refused: z.record(z.string(), oneOrMore).optional(),
  })
  .refine((test) => (test.admitted === undefined) !== (test.refused === undefined), {
    message: 'A test needs either admitted or refused.',
  });
export type PolicyTest = z.output<typeof PolicyTest>;

const TestFile = z.strictObject({ policy: PolicyName, tests: z.array(PolicyTest).min(1) });

export interface PlacedTest extends PolicyTest {
  file: string;
  line: number;
}

const vocabulary: Vocabulary = {
  schema: TestFile,
  shapeOf: (value) => (typeof value === 'object' && value !== null && !Array.isArray(value) ? 1 : undefined),
  foreign: new Map(),
};

export function readTests(
  text: string,
  file: string,
): { policy: string; tests: PlacedTest[] } | { problems: PlacedProblem[] } {
  const yaml = readYaml(text, file);
  if ('problems' in yaml) return yaml;
  const parsed = TestFile.safeParse(yaml.value);
  if (!parsed.success)
    return {
      problems: explainIssues(parsed.error, yaml.value, vocabulary).map((issue) =>
        problemAt(file, yaml, issue.at, showIssue(issue)),
      ),
    };
  const tests = parsed.data.tests.map((test, i) => ({ ...test, file, line: yaml.placeOf(['tests', i]).line }));
  return { policy: parsed.data.policy, tests };
}
