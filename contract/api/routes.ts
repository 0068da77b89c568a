import { apiKeyRoutes } from './apikeys.ts';
import { batchRoutes } from './batches.ts';
import { diskRoutes } from './disk.ts';
import { eventRoutes } from './events.ts';
import { evidenceRoutes } from './evidence.ts';
import { healthRoutes } from './health.ts';
import { mcpRoutes } from './mcp.ts';
import { outputRoutes } from './outputs.ts';
import { policyRoutes } from './policies.ts';
import { quotaRoutes } from './quotas.ts';
import { runRoutes } from './runs.ts';
import { scheduleRoutes } from './schedules.ts';
import { sessionRoutes } from './sessions.ts';
import { snapshotRoutes } from './snapshots.ts';
import { tenantRoutes } from './tenants.ts';
import { webhookRoutes } from './webhooks.ts';
import { workerRoutes } from './workers.ts';
import { workflowRoutes } from './workflows.ts';

/** Every operation of the API by its operationId. */
export const routes = {
  ...runRoutes,
  ...eventRoutes,
  ...sessionRoutes,
  ...outputRoutes,
  ...evidenceRoutes,
  ...snapshotRoutes,
  ...scheduleRoutes,
  ...batchRoutes,
  ...workflowRoutes,
  ...webhookRoutes,
  ...policyRoutes,
  ...apiKeyRoutes,
  ...quotaRoutes,
  ...tenantRoutes,
  ...workerRoutes,
  ...mcpRoutes,
  ...diskRoutes,
  ...healthRoutes,
};
export type Routes = typeof routes;
export type OperationId = keyof Routes;
