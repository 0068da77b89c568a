import { admit, type Admission } from '@hotcell/contract/admission.ts';
import { readRunRequest } from '@hotcell/contract/read-request.ts';
import type { Issue } from '@hotcell/contract/errors.ts';
import { showIssue, showIssues } from '@hotcell/contract/parse.ts';
import type { Policy } from '@hotcell/contract/policy.ts';
import type { RunRequest } from '@hotcell/contract/spec.ts';
import type { ExpectedAdmission, PolicyTest } from './test-file.ts';

/** One test, its verdict, and how that differs from the expected one. */
export interface Tried {
  test: PolicyTest;
  /** Undefined if the request did not parse. */
  request: RunRequest | undefined;
  admission: Admission | undefined;
  rules: readonly string[];
  differences: string[];
}

/** A test that gives no code is about something else: a language that the policy allows keeps out of the way. */
const prints = ({ languages }: Policy) => ({
  blocks: [{ language: languages[0]?.name ?? 'python', code: 'print(1)' }],
});

function bodyOf(test: PolicyTest, policy: Policy): unknown {
  const names = Array.from({ length: test.inputs?.count ?? 0 }, (_, i) => `in-${i}`);
  return {
    ...prints(policy),
    ...(test.limits && { limits: test.limits }),
    ...(test.inputs && { inputs: Object.fromEntries(names.map((name) => [name, name])) }),
    ...test.request,
  };
}

export function tryTest(test: PolicyTest, policy: Policy): Tried {
  const read = readRunRequest(bodyOf(test, policy));
  if ('issues' in read) {
    const differences = compareReasons(test, read.issues);
    return { test, request: undefined, admission: undefined, rules: [], differences };
  }
  const inputs = test.inputs ? [{ name: 'in-0', bytes: test.inputs.bytes, files: test.inputs.files }] : [];
  const admission = admit(read.request, policy, { role: test.as }, inputs);
  const differences = admission.admitted
    ? compareAdmitted(test, admission, policy)
    : compareReasons(test, admission.reasons);
  return { test, request: read.request, admission, rules: admission.admitted ? [] : admission.rules, differences };
}

function compareAdmitted(
  test: PolicyTest,
  { effective, warnings }: Admission & { admitted: true },
  policy: Policy,
): string[] {
  if (!test.admitted)
    return [`is admitted, but the test expects a refusal (${Object.keys(test.refused ?? {}).join(', ')})`];
  const { limits, ...said }: ExpectedAdmission = test.admitted === true ? {} : test.admitted;
  const found: Record<keyof typeof said, unknown> = {
    image: policy.images.find(({ digest }) => digest === effective.image.digest)?.name,
    runtime: effective.runtime,
    queue: effective.queue,
    priority: effective.priority,
    pastLimit: effective.logs.pastLimit,
    verifyEachUse: effective.inputs.verifyEachUse,
    imageEnv: effective.imageEnv,
  };
  const effectiveLimits: Record<string, unknown> = effective.limits;
  const pairs = [
    ...Object.entries(said).map(([name, value]) => [name, value, found[name as keyof typeof found]] as const),
    ...Object.entries(limits ?? {}).map(([name, value]) => [`limits.${name}`, value, effectiveLimits[name]] as const),
  ];
  const differing = pairs
    .filter(([, wanted, is]) => JSON.stringify(wanted) !== JSON.stringify(is))
    .map(([name, wanted, is]) => `${name} is ${JSON.stringify(is)}, but the test expects ${JSON.stringify(wanted)}`);
  return [...differing, ...compareWarnings(test.warnings, warnings)];
}

function compareWarnings(wanted: readonly string[] | undefined, warnings: readonly string[]): string[] {
  if (wanted === undefined) return [];
  if (wanted.length === 0 && warnings.length > 0)
    return [`warns: ${warnings.join('; ')}, but the test expects no warnings`];
  return wanted
    .filter((part) => !warnings.some((warning) => warning.includes(part)))
    .map((part) => `lacks the warning "${part}"${warnings.length > 0 ? `; it warns: ${warnings.join('; ')}` : ''}`);
}

function compareReasons(test: PolicyTest, reasons: readonly Issue[]): string[] {
  const shown = showIssues(reasons);
  if (!test.refused) return [`is refused (${shown}), but the test expects admission`];
  const wanted = Object.entries(test.refused).flatMap(([path, parts]) => parts.map((part) => ({ path, part })));
  const fits = ({ path, part }: (typeof wanted)[number], reason: Issue) =>
    reason.path === path && reason.message.includes(part);
  return [
    ...wanted
      .filter((want) => !reasons.some((reason) => fits(want, reason)))
      .map(({ path, part }) => `is not refused for ${path}: "${part}"; the reasons are: ${shown}`),
    ...reasons
      .filter((reason) => !wanted.some((want) => fits(want, reason)))
      .map((reason) => `is also refused, which the test does not expect: ${showIssue(reason)}`),
  ];
}
