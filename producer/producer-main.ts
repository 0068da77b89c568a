import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { armCrashPoint } from '@hotcell/outside/process/crash.ts';
import { openEnding } from '@hotcell/outside/process/ending.ts';
import { type Logger, openLog } from '@hotcell/outside/process/log.ts';
import { buildServer } from './api/server.ts';
import { Batcher } from './batches/batcher.ts';
import { type ProducerSettings, readProducerSettings } from './producer-config.ts';
import { keepReadModel } from './readmodel/keep-read-model.ts';
import { openProducer } from './producer.ts';
import { WebhookSender } from './webhooks/webhook-sender.ts';
import { Scheduler } from './schedules/scheduler.ts';
import { WorkflowLeader } from './workflows/workflow-leader.ts';

/** How long requests may still take when we are asked to end; accepted runs are in the bucket in any case. */
const drainMs = 10_000;
const lameMs = 1_000;
/** The process has ended by then, even if a part does not answer. */
const endMs = 15_000;

const settings = readProducerSettings(process.env);
const log = openLog('producer', settings.HOTCELL_LOG_LEVEL);
using ending = openEnding(log, endMs);
await main(settings, log, ending.asked);

async function main(settings: ProducerSettings, log: Logger, draining: AbortSignal): Promise<void> {
  armCrashPoint(settings.HOTCELL_CRASH_AT);
  await using stack = new AsyncDisposableStack();
  const producer = await openProducer(settings, log, draining, stack);
  const { HOTCELL_LISTEN_HOST: host, HOTCELL_LISTEN_PORT: port } = settings;
  const server = buildServer(producer);
  const address = await server.listen({ host, port });
  stack.use(keepReadModel(producer));
  stack.use(new Scheduler(producer));
  stack.use(new Batcher(producer));
  stack.use(new WorkflowLeader(producer));
  stack.use(new WebhookSender(producer));
  producer.log.info({ address }, 'the producer answers');
  if (!draining.aborted) await once(draining, 'abort');
  producer.log.info('draining: waiting callers get what is known, and no new requests are taken');
  // A load balancer learns from /readyz before connections are refused.
  await pause(lameMs);
  await Promise.race([server.close(), pause(drainMs, undefined, { ref: false })]);
}
