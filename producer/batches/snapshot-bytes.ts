import { PassThrough } from 'node:stream';
import { once } from 'node:events';
import { HotcellError } from '@hotcell/contract/errors.ts';
import { checkedBytes } from '@hotcell/contract/checked-bytes.ts';
import type { LocatedEntry } from '@hotcell/record/snapshot-locations.ts';
import type { Producer } from '../producer.ts';

/** The bytes of a file of a snapshot as they come; its reader may be slow, and the last of them come only if all are right. */
export async function* snapshotBytes(
  { contents }: Pick<Producer, 'contents'>,
  tenant: string,
  entry: LocatedEntry,
): AsyncGenerator<Buffer> {
  const { bucket, key, versionId } = entry.location;
  const through = new PassThrough();
  const ends = new AbortController();
  const sink = async (chunk: Buffer) => {
    if (!through.write(chunk)) await once(through, 'drain', { signal: ends.signal });
  };
  const reading = contents
    .of(tenant, entry)
    .read(bucket, key, sink, { versionId, signal: ends.signal })
    .then((found) => {
      if (!found)
        throw new HotcellError('input_missing', `The bytes of ${entry.path} are not in the store: freeze it again.`);
      through.end();
    })
    .catch((error: unknown) => void through.destroy(error as Error));
  try {
    const differs = () =>
      new HotcellError('input_damaged', `The store has other bytes of ${entry.path} than its snapshot names.`);
    yield* checkedBytes(through as AsyncIterable<Buffer>, entry.sha256, differs);
  } finally {
    ends.abort();
    through.destroy();
    await reading;
  }
}
