import { resolveBlocks } from '@hotcell/contract/blocks.ts';
import { HotcellError } from '@hotcell/contract/errors.ts';
import type { Language } from '@hotcell/contract/languages.ts';
import type { Spec } from '@hotcell/contract/spec.ts';
import type { Job } from '../hand-offs.ts';

/** A spec's code, ready to be handed over. Admission has said the same before: what is refused here was never admitted. */
export function prepareJob(spec: Pick<Spec, 'blocks' | 'files'>, languages: readonly Language[]): Job {
  const { resolved, issues } = resolveBlocks(spec.blocks, spec.files, languages);
  if (issues.length > 0) {
    const shown = issues.map(({ path, message }) => `${path}: ${message}`).join('; ');
    throw new HotcellError('policy_refused', `the run cannot be prepared: ${shown}`, { issues });
  }
  return {
    blocks: spec.blocks.map((block, index) => {
      const { language = null, file = null, argv = [] } = resolved[index] ?? {};
      return { index, block, language, file, code: 'code' in block ? Buffer.from(block.code) : null, argv };
    }),
    files: spec.files.map((file) => ({
      path: file.path,
      bytes: 'text' in file ? Buffer.from(file.text) : Buffer.from(file.base64, 'base64'),
    })),
  };
}
