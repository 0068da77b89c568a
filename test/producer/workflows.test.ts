import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Hotcell } from '@hotcell/client/index.ts';
import type { ShownWorkflow } from '@hotcell/contract/api/workflows.ts';
import { signErasure } from '@hotcell/contract/evidence/erasure.ts';
import { newRunId } from '@hotcell/contract/names.ts';
import { readResult } from '@hotcell/record/commit.ts';
import { recordKeys, workKeys } from '@hotcell/record/layout.ts';
import { findSpec } from '@hotcell/record/run-spec.ts';
import { manifestAt } from '@hotcell/record/snapshot-store.ts';
import { collectMark, openWorkflows, unmarkWorkflow } from '@hotcell/record/workflow-records.ts';
import { type Bed, openBed } from '../support/bed.ts';
import { echoOn } from '../support/echo-on.ts';
import { freezeTree } from '../support/freezing.ts';
import { type House, openHouse } from '../support/house.ts';
import { type RunningProducer, settle, startProducer } from '../support/producer.ts';
import { until } from '../support/until.ts';

/** Workflows over HTTP, with a producer as in production and a worker that echoes. */
let bed: Bed;
let house: House;
let producer: RunningProducer;
let hotcell: Hotcell;

before(async () => {
  bed = await openBed();
  house = await openHouse(bed);
  producer = await startProducer(bed, house);
  hotcell = await producer.client();
  await house.worker('echo', { env: { HOTCELL_QUEUES: 'runc' }, steps: echoOn('runc') });
});
after(async () => {
  await settle(house, producer);
  await house[Symbol.asyncDispose]();
  await bed[Symbol.asyncDispose]();
});

const echo = (code: string) => ({ blocks: [{ language: 'bash', code }] });
const states = ({ steps }: ShownWorkflow) => Object.fromEntries(steps.map(({ name, state }) => [name, state]));
const stepIn = ({ steps }: ShownWorkflow, name: string) =>
  steps.find((step) => step.name === name) ?? assert.fail(`no step ${name}`);
const runOf = (shown: ShownWorkflow, name: string) =>
  stepIn(shown, name).tasks[0]?.run ?? assert.fail(`no run of ${name}`);
const specOf = async (run: string) => (await findSpec(house.store, house.tenant, run))?.spec ?? assert.fail('no spec');

async function through(asked: Parameters<Hotcell['workflows']['begin']>[0]): Promise<ShownWorkflow> {
  const { workflow } = await hotcell.workflows.begin(asked);
  return await hotcell.workflows.end(workflow);
}

test('outputs of a step are the input of the next by snapshot, and labels say whose runs they are', async () => {
  const ended = await through({
    name: 'chain',
    steps: {
      second: { run: { ...echo('output of the second'), inputs: { data: 'step:first' } } },
      first: { run: echo('output of the first') },
    },
  });
  assert.deepEqual([ended.outcome, states(ended)], ['succeeded', { first: 'succeeded', second: 'succeeded' }]);
  const first = await readResult(house.store, house.tenant, runOf(ended, 'first'));
  const second = await specOf(runOf(ended, 'second'));
  assert.equal(second.inputs[0]?.snapshot, first?.outputs.snapshot);
  assert.deepEqual([second.labels['workflow'], second.labels['step']], ['chain', 'second']);
});

test('a step fans out over partitions of a snapshot or of outputs, each with its own files', async () => {
  const { snapshot } = await freezeTree(house, house.tenant, {
    'day=1/a.csv': 'one',
    'day=1/hour=2/b.csv': 'two',
    'day=2/c.csv': 'three',
    'readme.txt': 'none',
  });
  const by = { by: 'day' };
  const ended = await through({
    name: 'partitioned',
    steps: {
      each: { over: { partitions: snapshot, ...by }, run: echo('output part') },
      again: { over: { partitions: 'step:each', ...by }, run: echo('print x') },
      many: { over: { partitions: snapshot, by: 'hour' }, run: echo('print x') },
    },
  });
  assert.equal(ended.outcome, 'succeeded', ended.reason);
  const given = async (step: string) =>
    await Promise.all(
      stepIn(ended, step).tasks.map(async ({ run }) => {
        const { params, inputs } = await specOf(run ?? '');
        const entries = await manifestAt(house.store, house.tenant, inputs[0]?.snapshot ?? assert.fail('no input'));
        return [params, entries.map(({ path }) => path)];
      }),
    );
  assert.deepEqual(await given('each'), [
    [{ item: { key: 'day', value: '1' } }, ['day=1/a.csv', 'day=1/hour=2/b.csv']],
    [{ item: { key: 'day', value: '2' } }, ['day=2/c.csv']],
  ]);
  assert.deepEqual(await given('many'), [[{ item: { key: 'hour', value: '2' } }, ['day=1/hour=2/b.csv']]]);
  // Its outputs have no folder of that name.
  assert.deepEqual([stepIn(ended, 'again').tasks, stepIn(ended, 'again').state], [[], 'succeeded']);
});

test('a step fans out over files and items, and the next gets the outputs of all its tasks', async () => {
  const { snapshot } = await freezeTree(house, house.tenant, { 'a.csv': 'one', 'b.csv': 'two' });
  const ended = await through({
    name: 'fan',
    steps: {
      each: { over: { files: snapshot }, run: { ...echo('output part'), params: { own: 1 } } },
      listed: { over: { items: ['x', 'y', 'z'] }, run: echo('print item') },
      all: { needs: ['listed'], run: { ...echo('print all'), inputs: { parts: 'step:each' } } },
    },
  });
  assert.equal(ended.outcome, 'succeeded', ended.reason);
  const tasks = stepIn(ended, 'each').tasks.map(({ run }) => run ?? '');
  const specs = await Promise.all(tasks.map(specOf));
  assert.deepEqual(
    specs.map(({ params }) => (params as { item: { path: string } }).item.path),
    ['a.csv', 'b.csv'],
  );
  const items = await Promise.all(
    specs.map(({ inputs }) => manifestAt(house.store, house.tenant, inputs[0]?.snapshot ?? assert.fail('no input'))),
  );
  assert.deepEqual(
    items.flat().map(({ path }) => path),
    ['a.csv', 'b.csv'],
  );
  const values = await Promise.all(stepIn(ended, 'listed').tasks.map(({ run }) => specOf(run ?? '')));
  assert.deepEqual(
    values.map(({ params }) => params),
    [{ item: 'x' }, { item: 'y' }, { item: 'z' }],
  );
  const { inputs } = await specOf(runOf(ended, 'all'));
  const merged = await manifestAt(house.store, house.tenant, inputs[0]?.snapshot ?? assert.fail('no input'));
  assert.deepEqual(
    merged.map(({ path }) => path),
    ['0/out.txt', '1/out.txt'],
  );
});

test('conditions look at outcomes and small JSON outputs, and failed needs are handled as each step says', async () => {
  const ended = await through({
    name: 'rules',
    steps: {
      check: { run: echo('output {"rows":{"bad":0}}') },
      clean: { when: [{ step: 'check', output: 'out.txt', field: 'rows.bad', is: 0 }], run: echo('print clean') },
      dirty: { when: [{ step: 'check', output: 'out.txt', field: 'rows.bad', is: 1 }], run: echo('print dirty') },
      fails: { run: echo('exit 3') },
      alarm: { when: [{ step: 'fails', outcome: ['failed', 'timed_out'] }], run: echo('print alarm') },
      left: { needs: ['fails'], run: echo('print left') },
      tidy: { needs: ['fails'], onFailedNeed: 'run', run: echo('print tidy') },
    },
  });
  assert.deepEqual(states(ended), {
    ...{ check: 'succeeded', clean: 'succeeded', dirty: 'skipped', fails: 'failed' },
    ...{ alarm: 'succeeded', left: 'skipped', tidy: 'succeeded' },
  });
  assert.equal(stepIn(ended, 'dirty').reason, 'rows.bad in out.txt of check is 0, and the condition wants 1.');
  assert.equal(ended.outcome, 'failed');
  assert.match(ended.reason, /^Step fails failed: /);
});

test('a step whose run was computed before takes that run, until anything of it differs', async () => {
  const flow = (code: string) => ({
    name: 'reuse',
    steps: {
      make: { reuse: true, run: echo(code) },
      use: { reuse: true, run: { ...echo('output used'), inputs: { data: 'step:make' } } },
    },
  });
  const first = await through(flow('output same'));
  const again = await through(flow('output same'));
  assert.deepEqual(
    again.steps.map(({ tasks }) => [tasks[0]?.state, tasks[0]?.run]),
    first.steps.map(({ tasks }) => ['reused', tasks[0]?.run]),
  );
  // An operator erased it: its outputs may go at any time.
  const { run, tenant, evidence } =
    (await readResult(house.store, house.tenant, runOf(first, 'make'))) ?? assert.fail();
  const sha256 = evidence?.sha256 ?? assert.fail('no evidence');
  const said = {
    version: 1,
    run,
    tenant,
    evidence: sha256,
    by: 'anna',
    reason: 'r',
    at: new Date().toISOString(),
  } as const;
  const key = recordKeys.erasure(tenant, run);
  await house.store.put(house.store.record, key, JSON.stringify(signErasure(house.signing.root, said)));
  const anew = await through(flow('output same'));
  assert.equal(stepIn(anew, 'make').tasks[0]?.state, 'succeeded');
  assert.notEqual(runOf(anew, 'make'), run);
  const other = await through(flow('output other'));
  assert.deepEqual(
    other.steps.map(({ tasks }) => tasks[0]?.state),
    ['succeeded', 'succeeded'],
  );
});

test('a rerun from a step runs it and what comes after it, and takes over the rest', async () => {
  const ended = await through({
    name: 'again',
    steps: {
      a: { run: echo('output a') },
      b: { run: { ...echo('output b'), inputs: { data: 'step:a' } } },
      c: { needs: ['b'], run: echo('print c') },
    },
  });
  await assert.rejects(hotcell.workflows.rerun(ended.workflow), { code: 'finished_already', message: /Every step/ });
  await assert.rejects(hotcell.workflows.rerun(ended.workflow, 'd'), {
    code: 'invalid',
    message: /The steps are a, b, c/,
  });
  const rerun = await hotcell.workflows.rerun(ended.workflow, 'b');
  const second = await hotcell.workflows.end(rerun.workflow);
  assert.deepEqual(
    second.steps.map(({ tasks }) => tasks[0]?.state),
    ['reused', 'succeeded', 'succeeded'],
  );
  assert.equal(runOf(second, 'a'), runOf(ended, 'a'));
  assert.notEqual(runOf(second, 'b'), runOf(ended, 'b'));
  assert.equal(second.from, ended.workflow);
});

test('a cancel ends what goes on and begins no more', async () => {
  const { workflow } = await hotcell.workflows.begin({
    name: 'cancelled',
    steps: { holds: { run: echo('hold') }, after: { needs: ['holds'], run: echo('print x') } },
  });
  await until(
    'the first step runs',
    async () => stepIn(await hotcell.workflows.show(workflow), 'holds').state === 'running',
  );
  await hotcell.workflows.cancel(workflow, 'enough');
  const ended = await hotcell.workflows.end(workflow);
  assert.deepEqual([ended.outcome, ended.reason], ['cancelled', 'Cancelled: enough']);
  assert.deepEqual(states(ended), { holds: 'cancelled', after: 'skipped' });
  await assert.rejects(hotcell.workflows.cancel(workflow), { code: 'finished_already' });
  const listed = (await hotcell.workflows.list()).workflows.find((one) => one.workflow === workflow);
  assert.equal(listed?.outcome, 'cancelled');
});

test('what can not be is refused with every reason before anything runs', async () => {
  const begin = (steps: Parameters<Hotcell['workflows']['begin']>[0]['steps']) =>
    hotcell.workflows.begin({ name: 'refused', steps });
  const issuesOf = async (asked: Promise<unknown>) => {
    const error = await asked.then(
      () => assert.fail('it was accepted'),
      (reason: unknown) => reason,
    );
    const { code, issues } = error as { code: string; issues: { path: string; message: string }[] };
    return [code, ...issues.map(({ path }) => path)];
  };
  const x = echo('print x');
  assert.deepEqual(await issuesOf(begin({ a: { needs: ['b'], run: x }, b: { needs: ['a'], run: x } })), [
    'invalid',
    'steps',
  ]);
  assert.deepEqual(
    await issuesOf(
      begin({ a: { run: { ...x, inputs: { d: 'no-such' } } }, b: { run: { ...x, inputs: { d: 'step:c' } } } }),
    ),
    ['invalid', 'steps.b.run.inputs.d'],
  );
  assert.deepEqual(await issuesOf(begin({ a: { run: { ...x, inputs: { d: 'no-such' } } } })), [
    ...['invalid', 'steps.a.run.inputs.d'],
  ]);
  const wide = { ...x, limits: { timeoutSeconds: 80_000 } };
  assert.deepEqual(await issuesOf(begin({ a: { run: wide }, b: { run: { ...x, policy: 'none' } } })), [
    ...['policy_refused', 'steps.a.run.limits.timeoutSeconds', 'steps.b.run.policy'],
  ]);
  const other = await producer.client('submitter', bed.tenant());
  const { workflow } = await hotcell.workflows.begin({ name: 'mine', steps: { a: { run: x } } });
  await assert.rejects(other.workflows.show(workflow), { code: 'not_found' });
});

test('a mark whose definition never came goes after ten minutes, and no earlier', async () => {
  const { store, tenant } = house;
  const minutesAgo = async (minutes: number) => {
    const id = newRunId();
    const at = new Date(Date.now() - minutes * 60_000).toISOString();
    await store.put(
      store.work,
      workKeys.openWorkflow(tenant, id),
      JSON.stringify({ version: 1, tenant, workflow: id, at }),
    );
    await collectMark(store, { tenant, id });
    return id;
  };
  const [old, young] = [await minutesAgo(11), await minutesAgo(9)];
  const marked = (await Array.fromAsync(openWorkflows(store, tenant))).map(({ id }) => id);
  assert.deepEqual([marked.includes(old), marked.includes(young)], [false, true]);
  await unmarkWorkflow(store, { tenant, id: young });
});
