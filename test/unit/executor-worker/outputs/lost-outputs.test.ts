import assert from 'node:assert/strict';
import { test } from 'node:test';
import { OutputLost } from '@hotcell/executor-worker/cell/sealed-cell.ts';
import { OutputCollector } from '@hotcell/executor-worker/outputs/output-collector.ts';

const badName = Buffer.from([0x61, 0xff]);
/** Nothing of a refused output reaches the store. */
const collector = () => new OutputCollector({} as never, { outputBytes: 100, outputFiles: 10 });

async function* failing(error: Error): AsyncGenerator<Buffer> {
  yield Buffer.from('some');
  throw error;
}

test('a refused output that is lost while it is read ends no attempt', async () => {
  const outputs = collector();
  await outputs.take(badName, 100, failing(new OutputLost('the cell ended')));
  assert.deepEqual(outputs.kept, { bytes: 0, files: 0, refused: 1 });
});

test('a broken stream ends the attempt, also while a refused output is read', async () => {
  await assert.rejects(collector().take(badName, 100, failing(new Error('broken'))), /broken/);
});
