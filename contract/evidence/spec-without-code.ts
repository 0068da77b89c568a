import { z } from 'zod';
import { AskedLimits } from '../limits.ts';
import type { Result } from '../result.ts';
import type { Spec } from '../spec.ts';
import { Retry } from '../spec.ts';
import { Retention } from '../retention.ts';
import type { Statement } from './statement.ts';

/** What a statement of a run says that was asked. */
const AskedWords = z.looseObject({
  acceptedAt: z.iso.datetime(),
  blocks: z.array(
    z.union([
      z.looseObject({ argv: z.array(z.string()) }),
      z.looseObject({ language: z.string(), file: z.string().optional() }),
    ]),
  ),
  files: z.array(z.looseObject({ path: z.string() })),
  env: z.array(z.string()),
  limits: z.strictObject({ ...AskedLimits.shape }),
  priority: z.number().int(),
  screening: z.array(z.string()),
  publish: z.string().optional(),
  workspacePublish: z.string().optional(),
  retry: Retry.optional(),
  notBefore: z.iso.datetime().optional(),
  retention: Retention.optional(),
});

/**
 * The spec of a run that was erased, as far as its statement has it: with neither code nor files nor values. Admission
 * judges it as it judged the whole, because it looks at names, sizes and limits.
 */
export function specWithoutCode({ predicate }: Statement, result: Result): Spec | undefined {
  const { run, tenant, requester, labels, policy, image, runtime, inputs, workspace } = result;
  const words = AskedWords.safeParse(predicate.buildDefinition.externalParameters);
  if (!words.success || !policy || !image || !runtime) return undefined;
  const { blocks, files, env, screening, ...asked } = words.data;
  const { acceptedAt, limits, priority, publish, workspacePublish, retry, notBefore, retention } = asked;
  return {
    ...({ version: 1, params: null } as const),
    ...{ run, tenant, requester, labels, policy, image, runtime, acceptedAt, limits, priority },
    ...(publish === undefined ? {} : { publish }),
    ...(workspace ? { workspace: { snapshot: workspace.before, locations: workspace.locations } } : {}),
    ...(workspacePublish === undefined ? {} : { workspacePublish }),
    ...(retry === undefined ? {} : { retry }),
    ...(notBefore === undefined ? {} : { notBefore }),
    ...(retention === undefined ? {} : { retention }),
    // Of a session the blocks come as steps. Its terms are not in the statement: the least fit every policy with sessions.
    ...(blocks.length === 0 ? { mode: 'session', session: { steps: 1, idleSeconds: 1 } } : {}),
    // The code may have named its file in a comment.
    blocks: blocks.map((block, i) =>
      'argv' in block
        ? { argv: z.array(z.string()).parse(block.argv) }
        : { language: block.language, code: '', file: block.file ?? result.blocks[i]?.file ?? `block_${i}` },
    ),
    files: files.map(({ path }) => ({ path, text: '' })),
    inputs: inputs.map(({ name, snapshot, locations = snapshot }) => ({ name, snapshot, locations })),
    env: Object.fromEntries(env.map((name) => [name, ''])),
    warnings: screening,
  };
}

/** Puts what only the whole spec tells, as it was signed, in the place of what its rest tells. */
export function withSignedCode(made: Statement, signed: Statement): Statement {
  const [ours, theirs] = [made.predicate.buildDefinition, signed.predicate.buildDefinition];
  // Where the signer did not get as far as reading the spec, there are none.
  const words = ['blocks', 'files', 'params'].filter((name) => name in theirs.externalParameters);
  const signedWords = Object.fromEntries(words.map((name) => [name, theirs.externalParameters[name] ?? null]));
  const code = new Map(theirs.resolvedDependencies.map((one) => [one.name, one]));
  const resolvedDependencies = ours.resolvedDependencies.map((one) =>
    one.name.startsWith('code/') ? (code.get(one.name) ?? one) : one,
  );
  const externalParameters = { ...ours.externalParameters, ...signedWords };
  return {
    ...made,
    predicate: { ...made.predicate, buildDefinition: { ...ours, externalParameters, resolvedDependencies } },
  };
}
