import { openApi } from '@hotcell/contract/api/openapi.ts';
import { LiveEvent, RefusedTicket, RunBeat, WorkerBeat } from '@hotcell/contract/heartbeats.ts';
import { SnapshotEntry } from '@hotcell/contract/snapshot.ts';
import { Ticket } from '@hotcell/contract/ticket.ts';
import { objects } from '@hotcell/record/objects.ts';
import { z } from 'zod';

/** What other versions read as well: a change here is one for the API's callers, or for a rolling update. */
const shared: Readonly<Record<string, z.ZodType>> = {
  ...Object.fromEntries(Object.values(objects).map(({ at, schema }) => [at, schema])),
  LiveEvent,
  RefusedTicket,
  RunBeat,
  SnapshotEntry,
  Ticket,
  WorkerBeat,
};

/** Every schema of the API, the record and the queue, with its bounds: one on each line. */
export function schemas(): string {
  const { paths, components, ...rest } = openApi() as ReturnType<typeof openApi> & Described;
  const lines = [
    ...Object.entries(rest),
    ...Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => [`${method.toUpperCase()} ${path}`, operation] as const),
    ),
    ...Object.entries(components.schemas),
    ...Object.entries(shared).map(([name, schema]) => [name, z.toJSONSchema(schema, { io: 'input' })] as const),
  ];
  return lines.map(([name, schema]) => `${name}  ${JSON.stringify(schema)}\n`).join('');
}

interface Described {
  paths: Record<string, Record<string, unknown>>;
  components: { schemas: Record<string, unknown> };
}
