import { WorkflowRequest } from '@hotcell/contract/api/workflows.ts';
import { HotcellError } from '@hotcell/contract/errors.ts';
import { inLanes } from '@hotcell/contract/lanes.ts';
import { parseAs } from '@hotcell/contract/parse.ts';
import { markWorkflowOpen, putWorkflowCancel, readWorkflowEnd, workflowsOf } from '@hotcell/record/workflow-records.ts';
import type { Producer } from '../producer.ts';
import { makeWorkflow } from '../workflows/make-workflow.ts';
import { rerunWorkflow } from '../workflows/rerun-workflow.ts';
import { listedWorkflow, requireWorkflow, showWorkflow } from '../workflows/show-workflow.ts';
import type { Handlers } from './register-routes.ts';
import { releaseBody } from './take-bodies.ts';

const readsAtOnce = 8;

export function workflowHandlers(producer: Producer) {
  const { store } = producer;
  return {
    async createWorkflow({ caller, headers, request, reply }) {
      const asked = parseAs(WorkflowRequest, request.body, 'the body');
      const workflow = await makeWorkflow(producer, caller, asked, headers['idempotency-key']);
      releaseBody(request);
      reply.code(201).header('location', `/v1/workflows/${workflow.id}`);
      return await showWorkflow(producer, workflow);
    },

    async listWorkflows({ caller: { tenant }, query: { limit, cursor } }) {
      const ids: string[] = [];
      for await (const id of workflowsOf(store, tenant, cursor)) if (ids.push(id) > limit) break;
      const page = ids.slice(0, limit);
      const found = new Map<string, NonNullable<Awaited<ReturnType<typeof listedWorkflow>>>>();
      await inLanes(readsAtOnce, page, async (id) => {
        const listed = await listedWorkflow(producer, tenant, id);
        if (listed) found.set(id, listed);
      });
      const next = ids.length > limit ? (page.at(-1) ?? null) : null;
      return { workflows: page.flatMap((id) => found.get(id) ?? []), next };
    },

    async getWorkflow({ caller: { tenant }, params: { workflow } }) {
      return await showWorkflow(producer, await requireWorkflow(producer, tenant, workflow));
    },

    async cancelWorkflow({ caller: { tenant, key }, params, body }) {
      const workflow = await requireWorkflow(producer, tenant, params.workflow);
      const end = await readWorkflowEnd(store, workflow);
      if (end) throw new HotcellError('finished_already', `Workflow ${workflow.id} ended already, as ${end.outcome}.`);
      const reason = body?.reason ?? 'no reason was given';
      const cancel = { version: 1 as const, by: key, reason, at: new Date().toISOString() };
      await putWorkflowCancel(store, workflow, cancel);
      // Its producer may have died before it marked it: then no leader knows of it.
      await markWorkflowOpen(store, workflow);
      await producer.live.workflowChanged(tenant, workflow.id).catch((error: unknown) => {
        producer.log.info(
          { workflow: workflow.id, error },
          'failed to tell the leader of a cancel; it sees it by itself',
        );
      });
      return await showWorkflow(producer, workflow);
    },

    async rerunWorkflow({ caller, params: { workflow }, body, reply }) {
      const { id } = await requireWorkflow(producer, caller.tenant, workflow);
      const again = await rerunWorkflow(producer, caller, { id, from: body?.from });
      reply.code(201).header('location', `/v1/workflows/${again.id}`);
      return await showWorkflow(producer, again);
    },
  } satisfies Partial<Handlers>;
}
