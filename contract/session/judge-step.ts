import { filenameIn, resolveBlocks, type ResolvedBlock } from '../blocks.ts';
import type { Issue } from '../errors.ts';
import { findLanguage, type Language } from '../languages.ts';
import type { Limits } from '../limits.ts';
import type { Block, BundledFile } from '../spec.ts';

export interface StepRules {
  languages: readonly Language[];
  argv: boolean;
  limits: Limits;
  hasWorkspace: boolean;
}

interface AskedStep {
  index: number;
  block: Block;
  files: readonly BundledFile[];
  timeoutSeconds?: number | undefined;
}

export interface ResolvedStep extends ResolvedBlock {
  /** A step in Python shares the names of those before it. */
  inInterpreter: boolean;
  seconds: number;
}

const noArgv = 'The policy of this session does not allow programs by argv. Write { language, code }.';

/** It could lie in the place of a file of the workspace, which would then be gone at the end. */
const noFiles =
  'A session with a workspace keeps what its steps write, and a step can bring no file. Write it in the code of the step.';

/** A step as it will run, or every reason why it can't: asked by the producer, and again by the worker. */
export function judgeStep(
  { index, block, files, timeoutSeconds }: AskedStep,
  { languages, argv, limits, hasWorkspace }: StepRules,
): { step: ResolvedStep; issues: Issue[] } {
  const named = withName(block, index, languages);
  const { resolved, issues: found } = resolveBlocks([named], files, languages);
  const [whole = { language: null, file: null, argv: [] }] = resolved;
  // The body of a request has one block, and its fields stand at the top.
  const issues = found.map(({ path, message }) => ({ path: path.replace(/^blocks\[0\]\./, ''), message }));
  if ('argv' in block && !argv) issues.push({ path: 'argv', message: noArgv });
  if (hasWorkspace && (files.length > 0 || isNamed(block))) issues.push({ path: 'files', message: noFiles });
  const most = limits.blockTimeoutSeconds;
  if (timeoutSeconds !== undefined && timeoutSeconds > most) {
    const message = `A step of this session has at most ${most} s, and ${timeoutSeconds} s were asked for. Ask for less.`;
    issues.push({ path: 'timeoutSeconds', message });
  }
  const step = { ...whole, index, inInterpreter: whole.language === 'python', seconds: timeoutSeconds ?? most };
  return { step, issues };
}

const isNamed = (block: Block) =>
  !('argv' in block) && (block.file !== undefined || filenameIn(block.code) !== undefined);

function withName(block: Block, index: number, languages: readonly Language[]): Block {
  if ('argv' in block || isNamed(block)) return block;
  return { ...block, file: `step_${index}${findLanguage(languages, block.language)?.ending ?? ''}` };
}
