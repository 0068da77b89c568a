/** Takes one program's outputs from its cell to the store, as a worker does. */
import { newRunId } from '@hotcell/contract/names.ts';
import { OutputCollector } from '@hotcell/executor-worker/outputs/output-collector.ts';
import { openBed } from '../../test/support/bed.ts';
import { openTestCells } from '../../test/support/cells.ts';
import { jobOf, wide } from './cells.ts';
import { sayAtEnd } from './own-process.ts';
import { openOutputRoom } from '../../test/support/output-room.ts';

const { home, code, count } = JSON.parse(process.env['ASKED'] ?? '{}');
process.env['HOTCELL_HOME'] = home;
await using bed = await openBed();
await using made = await openTestCells(bed, 'outputs');
const cell = await made.cells.open(made.plan('runc', { limits: wide }));
try {
  const collector = new OutputCollector(
    { store: bed.store('worker'), tenant: bed.tenant(), run: newRunId(), attempt: 1, room: openOutputRoom() },
    wide,
  );
  let since = 0;
  for await (const event of cell.run(jobOf({ language: 'python', code }))) {
    // From the end of the program until all its outputs are in the store.
    if (event.type === 'block_ended') since = performance.now();
    if (event.type === 'output') await collector.take(event.path, event.size, event.data);
  }
  const { files } = await collector.finish();
  if (files.length !== count) throw new Error(`${files.length} of ${count} outputs came`);
  sayAtEnd(performance.now() - since);
} finally {
  await cell.destroy();
}
