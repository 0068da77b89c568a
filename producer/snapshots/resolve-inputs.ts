import { type Admission, judgeInputs } from '@hotcell/contract/admission.ts';
import { exactBytes } from '@hotcell/contract/sizes.ts';
import { HotcellError, type Issue } from '@hotcell/contract/errors.ts';
import type { Policy } from '@hotcell/contract/policy.ts';
import { snapshotLimits } from '@hotcell/contract/snapshot.ts';
import type { RunRequest } from '@hotcell/contract/spec.ts';
import type { KeptSnapshot } from '@hotcell/record/snapshot-store.ts';
import type { Buckets } from '@hotcell/record/buckets.ts';
import type { ReadDeps } from '../freeze/read-object.ts';
import type { TallyLimits } from '../freeze/tally.ts';
import { resolveInput } from './resolve.ts';
import { sourceForm } from './source.ts';

export interface ResolvedInput extends KeptSnapshot {
  name: string;
  source: string;
}
interface Resolved {
  inputs: ResolvedInput[];
  issues: Issue[];
}
type Entries = readonly (readonly [name: string, source: string])[];

/** Which of these a caller may not even have looked up: the others only add to the reasons. */
export const unheard = new Set(['caller', 'inputs.count']);

/**
 * The inputs of a request that was judged as far as it can be without them. For a caller without the right to submit,
 * and for more inputs than the policy allows, nothing is looked up. A request that is refused already has its names
 * looked up, so that it is told every reason at once; only one that is admitted so far has anything frozen for it, and
 * not more than the policy lets it have.
 */
export async function resolveInputs(
  deps: ReadDeps & { bulk: Buckets },
  tenant: string,
  { inputs: asked = {} }: RunRequest,
  policy: Policy,
  verdict: Admission,
): Promise<Resolved> {
  const refused = verdict.admitted ? [] : verdict.rules;
  if (refused.some((rule) => unheard.has(rule))) return { inputs: [], issues: [] };
  const entries = Object.entries(asked);
  const { known = [], frozen = [] } = Object.groupBy(entries, ([, source]) => (isFrozen(source) ? 'frozen' : 'known'));
  const found = await resolveEach(known, (source) => resolveInput(deps, tenant, source));
  found.issues.push(...judgeInputs(policy, found.inputs));
  if (refused.length > 0 || found.issues.length > 0) return found;
  const all = [...found.inputs];
  const more = await resolveEach(frozen, async (source) => {
    const kept = await resolveInput({ ...deps, store: deps.bulk }, tenant, source, leftOf(policy, all));
    all.push({ name: '', source, ...kept });
    return kept;
  });
  const byName = new Map([...found.inputs, ...more.inputs].map((input) => [input.name, input]));
  const inputs = entries.flatMap(([name]) => byName.get(name) ?? []);
  return { inputs, issues: more.issues.length > 0 ? more.issues : judgeInputs(policy, inputs) };
}

/** What a request gets wrong is a reason of its refusal; what we cannot do at the moment is an error. */
export function reasonOf(error: unknown, path: string): Issue {
  if (error instanceof HotcellError && error.status < 500) return { path, message: error.message };
  throw error;
}

/** To resolve it means to write a snapshot, and perhaps to read a whole bucket. */
function isFrozen(source: string): boolean {
  try {
    return ['s3', 'outputs'].includes(sourceForm(source).kind);
  } catch {
    // To resolve it says what is wrong with it.
    return false;
  }
}

async function resolveEach(asked: Entries, resolve: (source: string) => Promise<KeptSnapshot>): Promise<Resolved> {
  const inputs: ResolvedInput[] = [];
  const issues: Issue[] = [];
  for (const [name, source] of asked) {
    try {
      inputs.push({ name, source, ...(await resolve(source)) });
    } catch (error) {
      issues.push(reasonOf(error, `inputs.${name}`));
    }
  }
  return { inputs, issues };
}

function leftOf({ name, inputs: rule }: Policy, used: readonly KeptSnapshot[]): TallyLimits {
  const files = Math.max(0, rule.files - used.reduce((sum, input) => sum + input.files, 0));
  const bytes = Math.max(0, rule.bytes - used.reduce((sum, input) => sum + input.bytes, 0));
  const whole = `${rule.files} files and ${exactBytes(rule.bytes)}`;
  const because = `which policy ${name} leaves for it (all inputs together: ${whole}). Use a smaller prefix, or a policy that allows more`;
  return {
    files: Math.min(files, snapshotLimits.files),
    bytes: Math.min(bytes, snapshotLimits.bytes),
    ...(files < snapshotLimits.files || bytes < snapshotLimits.bytes ? { because } : {}),
  };
}
