import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { newRunId } from '@hotcell/contract/names.ts';
import type { WorkflowStep } from '@hotcell/contract/workflow.ts';
import { type KnownWorkflow, knowWorkflow } from '@hotcell/producer/workflows/known-workflow.ts';
import { folderOfTask, sourceOf, sourcesOf } from '@hotcell/producer/workflows/task-inputs.ts';
import type { Producer } from '@hotcell/producer/producer.ts';

const run = { blocks: [{ language: 'bash', code: 'true' }] };
const steps: Record<string, WorkflowStep> = { one: { run }, many: { over: { items: [1, 2] }, run } };

function known(): KnownWorkflow {
  const author = { key: 'k', role: 'submitter' } as const;
  const at = new Date().toISOString();
  const of = { version: 1, tenant: 't', id: newRunId(), name: 'w', at, author, parallel: 1, given: {} } as const;
  return knowWorkflow({ ...of, steps, policies: {} });
}
/** Nothing here comes so far that the record is asked. */
const away = {} as Pick<Producer, 'store' | 'news'>;

describe('the source of an input of a task', () => {
  test('stays as it was asked, if it names no step', async () => {
    assert.deepEqual(await sourcesOf(away, known(), { a: 'daily', b: 'x:outputs' }), { a: 'daily', b: 'x:outputs' });
  });

  test('is the outputs of the run that stands for a step, its own or an earlier one', async () => {
    const workflow = known();
    workflow.tasks.set('one', { run: 'r1', outcome: 'succeeded', reused: true });
    assert.deepEqual(await sourcesOf(away, workflow, { data: 'step:one' }), { data: 'r1:outputs' });
  });

  test('is nothing of a step that had no run, and the error names the step', async () => {
    const workflow = known();
    const noOutputs = { code: 'not_found', message: /^Step one has no outputs/ };
    await assert.rejects(sourceOf(away, workflow, 'step:one'), noOutputs);
    workflow.tasks.set('one', { run: null, refused: 'no' });
    await assert.rejects(sourceOf(away, workflow, 'step:one'), noOutputs);
  });

  test('is one snapshot for all tasks that want the outputs of a step that fans out', async () => {
    const workflow = known();
    workflow.merged.set('many', Promise.resolve('sha256:merged'));
    const wanted = Array.from({ length: 3 }, () => sourceOf(away, workflow, 'step:many'));
    assert.deepEqual(await Promise.all(wanted), ['sha256:merged', 'sha256:merged', 'sha256:merged']);
  });

  test('is made again after it failed: what was away may be back', async () => {
    const workflow = known();
    workflow.merged.set('many', Promise.reject(new Error('the store is away')));
    await assert.rejects(sourceOf(away, workflow, 'step:many'), /the store is away/);
    assert.equal(workflow.merged.has('many'), false);
    // Two tasks had no run: the second try fails for a reason of its own.
    workflow.fans.set('many', 2);
    await assert.rejects(sourceOf(away, workflow, 'step:many'), /Step many has no outputs/);
  });
});

test('folders of tasks are in the order of the tasks', () => {
  for (const count of [1, 2, 10, 11, 100, 1_000]) {
    const names = Array.from({ length: count }, (_, index) => folderOfTask(index, count));
    assert.deepEqual(names, names.toSorted());
    assert.equal(new Set(names).size, count);
  }
  assert.deepEqual([folderOfTask(0, 1), folderOfTask(7, 10), folderOfTask(7, 11)], ['0', '7', '07']);
});
