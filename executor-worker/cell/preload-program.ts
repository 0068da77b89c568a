import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sha256 } from '@hotcell/contract/digest.ts';
import { HotcellError } from '@hotcell/contract/errors.ts';
import type { HostFrame } from '@hotcell/contract/frames.ts';
import { blockFrames } from '../execute/job.ts';
import type { PlannedPreload } from './cell-plan.ts';

/** For the start of the interpreter and its libraries. Under gVisor on a busy machine pandas takes some seconds. */
const readyWithinMs = 60_000;

const folder = join(import.meta.dirname, '../../images/preloads');
const version = /^# usercustomize of python (3\.\d{1,2})$/m;

/** The preload that the policy pinned, and no other: this worker's own may be newer or older. */
async function preloadText({ name, digest }: PlannedPreload): Promise<Buffer> {
  const bytes = await readFile(join(folder, `${name}.py`)).catch(() => undefined);
  const found = bytes && sha256(bytes);
  if (!bytes || found !== digest)
    throw new HotcellError(
      'cell_failed',
      `The policy pins the preload ${name} as ${digest}, but this worker has ${found ?? 'none of that name'}.`,
    );
  return bytes;
}

/** What starts it: the command of the first block, and its file where that interpreter runs it before its script. */
export async function preloadFrames(preload: PlannedPreload): Promise<HostFrame[]> {
  const code = await preloadText(preload);
  const python = version.exec(code.toString('utf8'))?.[1];
  if (python === undefined)
    throw new HotcellError('cell_failed', `The preload ${preload.name} does not say for which Python it is.`);
  const file = `.local/lib/python${python}/site-packages/usercustomize.py`;
  const frames = blockFrames({ index: 0, argv: preload.argv, file, code }, readyWithinMs);
  return Array.from(frames, (frame) => (frame.type === 'block' ? { ...frame, type: 'preload' as const } : frame));
}
