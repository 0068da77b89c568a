import { createHash } from 'node:crypto';
import { resolveBlocks } from '@hotcell/contract/blocks.ts';
import { HotcellError } from '@hotcell/contract/errors.ts';
import { frameLimits, type HostFrame } from '@hotcell/contract/frames.ts';
import type { Language } from '@hotcell/contract/languages.ts';
import type { Block, BundledFile, Spec } from '@hotcell/contract/spec.ts';
import { showIssues } from '@hotcell/contract/parse.ts';
import { jobLimitsOf } from '../cell/cell-times.ts';
import type { CellPlan } from '../cell/cell-plan.ts';

/** A block ready to be handed over: where its file lies in /work, its bytes, and what runs it. */
export interface PreparedBlock {
  index: number;
  block: Block;
  language: string | null;
  file: string | null;
  code: Buffer | null;
  argv: readonly string[];
}

export interface Job {
  blocks: readonly PreparedBlock[];
  files: readonly { path: string; bytes: Buffer }[];
  /** Its blocks are steps that come later. */
  session?: { saidBytes: number };
  /** What its cell keeps of /work, at most. */
  workspace?: { bytes: number; files: number } | undefined;
}

/** A spec's code, ready to be handed over. Admission judges by the same rules: a spec that is refused here bypassed it. */
export function prepareJob(spec: Pick<Spec, 'blocks' | 'files'>, languages: readonly Language[]): Job {
  const { resolved, issues } = resolveBlocks(spec.blocks, spec.files, languages);
  if (issues.length > 0) {
    throw new HotcellError('policy_refused', `The run can't be prepared: ${showIssues(issues)}`, { issues });
  }
  return {
    blocks: spec.blocks.map((block, index) => {
      const { language = null, file = null, argv = [] } = resolved[index] ?? {};
      return { index, block, language, file, code: 'code' in block ? Buffer.from(block.code) : null, argv };
    }),
    files: spec.files.map(bundled),
  };
}

export function bundled(file: BundledFile): Job['files'][number] {
  return { path: file.path, bytes: 'text' in file ? Buffer.from(file.text) : Buffer.from(file.base64, 'base64') };
}

/** A job as frames: its limits, the variables that its cell does not have yet, the bundled files, the blocks, the start. */
export function* jobFrames(
  plan: Pick<CellPlan, 'limits' | 'log'>,
  job: Job,
  env: Readonly<Record<string, string>> = {},
): Generator<HostFrame> {
  yield { type: 'job', limits: jobLimitsOf(plan, job.workspace) };
  for (const [name, value] of Object.entries(env)) yield { type: 'env', name, value };
  yield* fileFrames(job.files);
  const { workspace } = job;
  if (workspace) yield { type: 'workspace', mostBytes: workspace.bytes, mostFiles: workspace.files };
  if (job.session) yield { type: 'session', ...job.session };
  const { blockTimeoutSeconds, timeoutSeconds } = plan.limits;
  const timeMs = blockTimeoutSeconds < timeoutSeconds ? blockTimeoutSeconds * 1000 : 0;
  for (const block of job.blocks) yield* blockFrames(block, timeMs);
  yield { type: 'start' };
}

export function* fileFrames(files: Job['files']): Generator<HostFrame> {
  for (const { path, bytes } of files) {
    yield { type: 'file', path, size: bytes.length, sha256: digest(bytes) };
    for (const chunk of chunks(bytes)) yield { type: 'fileData', bytes: chunk };
  }
}

/** `timeMs` 0: only the run's limit applies. */
export function* blockFrames(
  { index, argv, file, code }: Omit<PreparedBlock, 'block' | 'language'>,
  timeMs: number,
): Generator<HostFrame> {
  const bytes = code ?? Buffer.alloc(0);
  const [program = '', ...args] = argv;
  const path = code === null ? '' : (file ?? '');
  yield { type: 'block', index, timeMs, programs: [program], args, path, size: bytes.length, sha256: digest(bytes) };
  for (const chunk of chunks(bytes)) yield { type: 'blockData', bytes: chunk };
}

function digest(bytes: Buffer): Buffer {
  return createHash('sha256').update(bytes).digest();
}

function* chunks(bytes: Buffer): Generator<Buffer> {
  for (let at = 0; at < bytes.length; at += frameLimits.chunkBytes)
    yield bytes.subarray(at, at + frameLimits.chunkBytes);
}
