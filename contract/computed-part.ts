import type { Spec } from './spec.ts';

/** All of a spec that what it computes can depend on. */
type Computed = Pick<
  Spec,
  'blocks' | 'files' | 'params' | 'policy' | 'image' | 'runtime' | 'inputs' | 'workspace' | 'limits' | 'env'
>;

/**
 * What of a spec decides what its run computes. It is the same for two runs of the same code, params, variables and inputs in the same image under the same policy. Who asked,
 * when and under which labels is no part of it: the code can't see that.
 */
export function computedPart(spec: Computed) {
  const { blocks, files, params, policy, image, runtime, inputs, workspace, limits, env } = spec;
  const given = inputs.map(({ name, snapshot }) => ({ name, snapshot })).toSorted((a, b) => (a.name < b.name ? -1 : 1));
  const begun = workspace ? { workspace: workspace.snapshot } : {};
  const made = { policy: policy.digest, image: image.digest, runtime };
  return { blocks, files, params, ...made, inputs: given, ...begun, limits, env };
}
