import { HotcellError } from '@hotcell/contract/errors.ts';
import { taskName } from '@hotcell/contract/workflow-decide.ts';
import { stepOf } from '@hotcell/contract/workflow-graph.ts';
import { manifestAt, putSnapshot, type SnapshotFile } from '@hotcell/record/snapshot-store.ts';
import type { RunId } from '@hotcell/contract/names.ts';
import { snapshotLimits } from '@hotcell/contract/snapshot.ts';
import { freezeOutputs } from '../freeze/freeze-outputs.ts';
import type { Producer } from '../producer.ts';
import type { KnownWorkflow } from './known-workflow.ts';

/** Sources as a request may name them: outputs of steps become snapshots, without a byte being copied. */
export async function sourcesOf(
  producer: Pick<Producer, 'store' | 'news'>,
  known: KnownWorkflow,
  inputs: Readonly<Record<string, string>>,
): Promise<Record<string, string>> {
  const sources: Record<string, string> = {};
  for (const [name, source] of Object.entries(inputs)) sources[name] = await sourceOf(producer, known, source);
  return sources;
}

/** Of a step that fans out: the outputs of all its tasks, each in a folder that is its number. */
export async function sourceOf(
  producer: Pick<Producer, 'store' | 'news'>,
  known: KnownWorkflow,
  source: string,
): Promise<string> {
  const step = stepOf(source);
  if (step === undefined) return source;
  if (!known.graph[step]?.over) return `${runOf(known, step, step)}:outputs`;
  const merged = known.merged.get(step) ?? mergeOutputs(producer, known, step);
  // Several tasks want it, and it never changes. What failed may succeed the next time.
  known.merged.set(step, merged);
  return await merged.catch((error: unknown) => {
    known.merged.delete(step);
    throw error;
  });
}

async function mergeOutputs(
  producer: Pick<Producer, 'store' | 'news'>,
  known: KnownWorkflow,
  step: string,
): Promise<string> {
  const { store } = producer;
  const { tenant } = known;
  const files: SnapshotFile[] = [];
  const count = known.fans.get(step);
  for (let index = 0; index < Number(count); index++) {
    const run = runOf(known, step, taskName(step, index));
    const folder = folderOfTask(index, Number(count));
    const result = await producer.news.resultOf(tenant, run);
    if (!result || result.outputs.snapshot === null) continue;
    if (files.length + result.outputs.files.length > snapshotLimits.files) throw tooManyFiles(step);
    const { snapshot } = await freezeOutputs(store, tenant, run);
    for (const file of await manifestAt(store, tenant, snapshot))
      files.push({ ...file, path: `${folder}/${file.path}` });
  }
  const by = `workflow ${known.id}`;
  return (await putSnapshot(store, tenant, files, { source: `${step} of ${by}`, by })).snapshot;
}

/** So that their order by name is the order of the tasks. */
export function folderOfTask(index: number, count: number): string {
  return String(index).padStart(String(Math.max(0, count - 1)).length, '0');
}

function tooManyFiles(step: string): HotcellError {
  return new HotcellError(
    'snapshot_refused',
    `The tasks of step ${step} wrote more than ${snapshotLimits.files} files together, the most that an input may have. Let each write fewer, larger files.`,
  );
}

/** A step that did not run has no outputs: its caller says so. */
function runOf(known: KnownWorkflow, step: string, task: string): RunId {
  const run = known.tasks.get(task)?.run;
  if (run) return run;
  throw new HotcellError('not_found', `Step ${step} has no outputs: it had no run.`);
}
