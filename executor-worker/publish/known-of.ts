import type { Stage } from '../stages.ts';

/** What a statement binds beside the result. */
export const knownOf = (stage: Stage) => ({
  spec: 'spec' in stage ? stage.spec : undefined,
  effective: 'effective' in stage ? stage.effective : undefined,
  receipt: 'spec' in stage ? stage.receipt : undefined,
});
