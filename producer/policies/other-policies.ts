import type { Issue } from '@hotcell/contract/errors.ts';
import type { Policy } from '@hotcell/contract/policy.ts';
import type { AskedRun } from '@hotcell/contract/spec.ts';

const mostNamed = 5;

/** Beside a language that the policy doesn't allow: which policies do. A newcomer knows the language, not the policies. */
export function withOthers(
  reasons: readonly Issue[],
  { blocks }: Pick<AskedRun, 'blocks'>,
  policies: readonly Policy[],
): Issue[] {
  return reasons.map((reason) => {
    const block = blocks[Number(/^blocks\[(\d{1,6})\]\.language$/.exec(reason.path)?.[1])];
    if (!block || !('language' in block)) return reason;
    const names = policies.filter((policy) => allows(policy, block.language)).map(({ name }) => name);
    if (names.length === 0) return reason;
    return { ...reason, message: `${reason.message} Policies with it: ${names.slice(0, mostNamed).join(', ')}.` };
  });
}

/** What needs an approval refuses every run until approvals exist. */
function allows({ approval, languages }: Policy, asked: string): boolean {
  return !approval && languages.some(({ name, aliases }) => name === asked || aliases.includes(asked));
}
