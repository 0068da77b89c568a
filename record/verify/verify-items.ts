import type { BatchHead } from '@hotcell/contract/batch.ts';
import { sha256 } from '@hotcell/contract/digest.ts';
import { differencesOf } from '@hotcell/contract/evidence/json-differences.ts';
import { messageOf } from '@hotcell/contract/errors.ts';
import { inLanes } from '@hotcell/contract/lanes.ts';
import { parseKept } from '@hotcell/contract/parse.ts';
import { Result } from '@hotcell/contract/result.ts';
import { refusalsKeptMs } from '../keep.ts';
import { recordKeys } from '../layout.ts';
import { LargeRoom } from './large-room.ts';
import type { RanItem } from './manifest-reading.ts';
import { readWhole, TooLarge } from './record-reader.ts';
import type { Look } from './verification.ts';

const atOnce = 16;

/** The results that a manifest names: byte for byte those, and of the items that it says. */
export async function verifyItems(
  look: Look,
  head: BatchHead,
  ran: readonly RanItem[],
  finishedOn: string,
): Promise<void> {
  // The record keeps refusals for so long.
  const mayBeGone = look.of.now.getTime() > Date.parse(finishedOn) + refusalsKeptMs;
  await inLanes(atOnce, ran, (item) => verifyItem(look, head, item, mayBeGone && item.outcome === 'rejected'));
}

async function verifyItem(
  { of, findings, read }: Look,
  { tenant, batch }: BatchHead,
  { item, run, result: expected, ...end }: RanItem,
  mayBeGone: boolean,
): Promise<void> {
  const key = recordKeys.result(tenant, run);
  using room = new LargeRoom();
  let bytes: Buffer | undefined;
  try {
    bytes = await readWhole(of.reader, key, room);
  } catch (error) {
    if (!(error instanceof TooLarge)) throw error;
    return findings.add('MODIFIED', key, `${expected}, as the manifest has item ${item}`, error.message);
  }
  if (!bytes && mayBeGone) return;
  if (!bytes) return findings.add('MISSING', key, `${expected}, as the manifest has item ${item}`, 'nothing');
  read.objects += 1;
  read.bytes += bytes.length;
  const digest = sha256(bytes);
  if (digest !== expected)
    return findings.add('MODIFIED', key, `${expected}, as the manifest has item ${item}`, digest);
  try {
    const result = parseKept(Result, bytes.toString('utf8'), key, 'record_damaged').value;
    const { outcome, exitCode, outputs } = result;
    const found = { run: result.run, batch: result.labels['batch'], outcome, exitCode, outputs: outputs.snapshot };
    for (const one of differencesOf({ run, batch, ...end }, found))
      findings.add(
        'INCONSISTENT',
        `${key}: ${one.path}`,
        `${one.expected}, as the manifest has item ${item}`,
        one.found,
      );
  } catch (error) {
    findings.add('INCONSISTENT', key, 'a result', messageOf(error).slice(0, 300));
  }
}
