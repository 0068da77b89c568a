/** The thread that has the read model's tables. */
import { crashPoint } from '@hotcell/outside/process/crash.ts';
import { answerCalls } from '@hotcell/outside/process/thread-calls.ts';
import type { Change } from './run-changes.ts';
import type { Wanted } from './run-query.ts';
import { RunTables } from './run-tables.ts';

function callsOn(tables: RunTables) {
  return {
    write: (changes: readonly Change[]) => {
      const unknown = tables.write(changes);
      if (['row', 'place'].every((kind) => changes.some((change) => change.kind === kind))) crashPoint('lists-filled');
      return unknown;
    },
    list: (tenant: string, wanted: Wanted, scan: number) => tables.list(tenant, wanted, scan),
    unfinished: (shard: string, after: string, most: number) => tables.unfinished(shard, after, most),
    known: (runs: readonly string[]) => tables.known(runs),
    places: () => tables.places(),
    count: () => tables.count(),
    empty: () => tables.empty(),
    close: () => tables[Symbol.dispose](),
  };
}
export type ModelCalls = ReturnType<typeof callsOn>;

answerCalls((file) => callsOn(RunTables.open(String(file))));
