import { dirname } from 'node:path';
import type { routes } from '@hotcell/contract/api/routes.ts';
import { parseAs } from '@hotcell/contract/parse.ts';
import type { RunRequest } from '@hotcell/contract/spec.ts';
import { sourceOver } from '@hotcell/contract/workflow-graph.ts';
import { Callback } from '@hotcell/contract/webhook.ts';
import { Parallel, StepName, stepRules, WorkflowName } from '@hotcell/contract/workflow.ts';
import type { Call } from '@hotcell/contract/api/call.ts';
import { z } from 'zod';
import type { FreezePath } from './build-request.ts';
import { codeBeside, uploadsBeside, uploadedInputs, writtenRun, yamlIn } from './written-run.ts';

type NewWorkflow = Call<typeof routes.createWorkflow>['json'];

const FileStep = z.strictObject({ ...stepRules, ...writtenRun });

const WorkflowFile = z.strictObject({
  name: WorkflowName,
  parallel: Parallel.optional(),
  callback: Callback.optional(),
  policy: z.string().optional().describe('for every step that names none'),
  steps: z.record(StepName, FileStep),
});

/** Reads a workflow from YAML, with the code that it names. Local folders and files that are inputs are uploaded. */
export async function readWorkflowFile(path: string, freeze: FreezePath): Promise<NewWorkflow> {
  const parsed = parseAs(WorkflowFile, await yamlIn(path), path);
  const folder = dirname(path);
  const steps: NewWorkflow['steps'] = {};
  // Every file is read before any folder is uploaded.
  const blocks = new Map<string, Awaited<ReturnType<typeof codeBeside>>>();
  for (const [name, step] of Object.entries(parsed.steps))
    blocks.set(name, await codeBeside(folder, `steps.${name}`, step));
  const upload = uploadsBeside(folder, freeze);
  for (const [name, step] of Object.entries(parsed.steps)) {
    const { needs, onFailedNeed, when, over, reuse, script: _s, code: _c, language: _l, files: _f, ...run } = step;
    const policy = run.policy ?? parsed.policy;
    const inputs = run.inputs && (await uploadedInputs(run.inputs, upload));
    steps[name] = {
      ...(needs && { needs }),
      ...(onFailedNeed && { onFailedNeed }),
      ...(when && { when }),
      ...(over && { over: await uploadedOver(over, upload) }),
      ...(reuse !== undefined && { reuse }),
      run: { ...run, ...blocks.get(name), ...(policy && { policy }), ...(inputs && { inputs }) } as RunRequest,
    };
  }
  const { name, parallel, callback } = parsed;
  return { name, ...(parallel && { parallel }), ...(callback !== undefined && { callback }), steps };
}

async function uploadedOver(over: NonNullable<z.infer<typeof FileStep>['over']>, upload: FreezePath) {
  const [of, source] = sourceOver(over) ?? [];
  return of && source !== undefined ? { ...over, [of]: await upload(source) } : over;
}
