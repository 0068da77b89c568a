import type { Effective } from '@hotcell/contract/admission.ts';
import { resolveBlocks } from '@hotcell/contract/blocks.ts';
import { jobVariables } from '@hotcell/contract/job-variables.ts';
import type { WhyFresh } from '@hotcell/contract/preload.ts';
import type { Spec } from '@hotcell/contract/spec.ts';
import type { PlannedPreload } from '../cell/cell-plan.ts';

/**
 * A preload is started with the command of the block that it is for, and in its environment. So it can only be for a block
 * whose file has no name of its own, and for a run without variables: then it is the same for all such runs.
 */
export function plannedPreload(
  { blocks, files, mode, workspace }: Pick<Spec, 'blocks' | 'files' | 'mode' | 'workspace'>,
  { preload, languages, env, runtime }: Pick<Effective, 'preload' | 'languages' | 'env' | 'runtime'>,
): PlannedPreload | WhyFresh | undefined {
  if (!preload) return undefined;
  // Under gVisor one that was stopped does not always go on in time.
  if (runtime === 'gvisor') return 'runtime';
  if (mode === 'session') return 'session';
  const [first] = resolveBlocks(blocks, files, languages).resolved;
  const isBundled = files.some(({ path }) => path.startsWith('.local/'));
  if (first?.language !== 'python' || first.file !== 'block_0.py' || isBundled) return 'program';
  // It may have modules of the user's, and is laid out while the preload would hold memory.
  if (workspace) return 'workspace';
  if (Object.keys(jobVariables(env)).length > 0) return 'variables';
  return { ...preload, argv: first.argv };
}
