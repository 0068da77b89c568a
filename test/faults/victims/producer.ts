import { digestOf } from '@hotcell/contract/digest.ts';
import { effectiveQuota } from '@hotcell/contract/quota.ts';
import { TicketSigner } from '@hotcell/contract/ticket-signing.ts';
import { armCrashPoint } from '@hotcell/outside/process/crash.ts';
import { Live } from '@hotcell/outside/live/live.ts';
import { openLog } from '@hotcell/outside/process/log.ts';
import { Queues } from '@hotcell/outside/queue/queues.ts';
import { commonSettings, readSettings } from '@hotcell/outside/process/settings.ts';
import { Buckets, bucketsFrom } from '@hotcell/record/buckets.ts';
import { openSigner } from '@hotcell/record/signer.ts';
import { accept } from '@hotcell/producer/accept.ts';
import { Bounds } from '@hotcell/producer/queue-bounds.ts';
import { cancelRun } from '@hotcell/producer/cancel.ts';
import { Reconciler } from '@hotcell/producer/reconcile.ts';
import { z } from 'zod';
import { echoQueue } from '../../support/echo.ts';
import { specFor } from '../../support/spec.ts';

/** A producer process that accepts once, accepts until it is killed, cancels, or recovers until it is ended. */
const [what = '', tenant = '', value = ''] = process.argv.slice(2);
const settings = readSettings(
  z.object({ ...commonSettings, HOTCELL_TICKET_KEY: z.string(), HOTCELL_STATE_DIR: z.string() }),
  process.env,
);
const { HOTCELL_INSTALLATION: installation, HOTCELL_REDIS_URL: url } = settings;
armCrashPoint(settings.HOTCELL_CRASH_AT);
using store = new Buckets(bucketsFrom(settings));
await using live = await Live.open({ url, installation });
await using queues = new Queues({ url, installation });
const deps = {
  installation,
  store,
  live,
  queues,
  signer: await openSigner(settings.HOTCELL_STATE_DIR, 'producer', 'producer'),
  tickets: new TicketSigner(settings.HOTCELL_TICKET_KEY),
  bounds: new Bounds(queues, 1000),
  quotas: { of: (tenant: string) => effectiveQuota(tenant, { version: 1 }, undefined) },
  log: openLog('victim', settings.HOTCELL_LOG_LEVEL),
};
switch (what) {
  case 'accept': {
    const idempotency = { key: value, body: digestOf(value) };
    await accept(deps, { spec: specFor(tenant, 'print hello'), queue: echoQueue, idempotency });
    break;
  }
  case 'accept-many':
    for (let count = 1; ; count++) {
      const { run } = await accept(deps, { spec: specFor(tenant, 'print hello'), queue: echoQueue });
      // Printed where the API would answer: from here on the run is promised.
      process.stderr.write(`accepted ${count} ${run}\n`);
    }
  case 'cancel':
    await cancelRun(deps, { tenant, run: value, by: 'the victim', reason: 'because' });
    break;
  case 'recover': {
    await using _reconciler = new Reconciler(deps);
    await new Promise((resolve) => process.once('SIGTERM', resolve));
    break;
  }
}
