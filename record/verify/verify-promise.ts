import type { Receipt } from '@hotcell/contract/evidence/receipt.ts';
import type { RunVerdict } from '@hotcell/contract/evidence/verdict.ts';
import { HotcellError } from '@hotcell/contract/errors.ts';
import { sha256 } from '@hotcell/contract/digest.ts';
import { recordKeys } from '../layout.ts';
import { readWhole } from './record-reader.ts';
import { Look, type Verification } from './verification.ts';
import { receiptSigned } from './verify-receipt.ts';
import { verifyRun } from './verify-run.ts';

/** The run that a receipt promises, and whether the record has the spec that was promised. */
export async function verifyPromise(of: Verification, receipt: Receipt): Promise<RunVerdict> {
  const look = new Look(of);
  const promised = receiptSigned(look, receipt, 'the receipt');
  if (!promised) {
    const [first] = look.findings.all;
    throw new HotcellError(
      'record_damaged',
      `The receipt proves nothing: expected ${first?.expected ?? 'a receipt'}, found ${first?.found ?? 'another thing'}.`,
    );
  }
  const { tenant, run, spec } = promised;
  const verdict = await verifyRun(of, { tenant, run });
  const key = recordKeys.spec(tenant, run);
  const bytes = await readWhole(of.reader, key, of.room);
  const found = bytes && sha256(bytes);
  const isErased = !found && verdict?.erased?.spec === spec;
  if (found !== spec && !isErased)
    look.findings.add(found ? 'MODIFIED' : 'MISSING', key, `${spec}, as promised`, found ?? 'nothing');
  // What was promised is a run, whatever is left of it.
  if (!verdict)
    look.findings.add('OPEN', recordKeys.result(tenant, run), 'a result', 'no result, and no sign of the promise');
  const findings = [...look.findings.all, ...(verdict?.findings ?? [])];
  const base = verdict ?? { run, tenant, read: look.read };
  return { ...base, findings, verdict: findings[0]?.verdict ?? 'VALID' };
}
