import { messageOf } from '@hotcell/contract/errors.ts';
import type { Finding, RunVerdict } from '@hotcell/contract/evidence/verdict.ts';
import { type ExportedRun, type ExportIndex, exportPaths } from '../export/export-layout.ts';
import { ExportedRunReader } from './exported-run-reader.ts';
import { Look, SeenObjects, type Verification } from './verification.ts';
import { verifyCopies } from './verify-copies.ts';
import { verifyInput } from './verify-input.ts';
import { verifyRun } from './verify-run.ts';

/** A run of an export: what the record says of it, and then what stands beside it for readers and for other tools. */
export async function verifyExported(
  of: Verification,
  at: ExportedRun,
  has: ExportIndex['contents'],
): Promise<RunVerdict | undefined> {
  let view: ExportedRunReader;
  try {
    view = await ExportedRunReader.of(of.reader, at, of.room);
  } catch (error) {
    return unreadable(at, error);
  }
  // Two runs may have different bytes in the place of one object of the record: what was seen of one says nothing here.
  const ofRun = { ...of, reader: view, seen: new SeenObjects() };
  const verdict = await verifyRun({ ...ofRun, contents: false }, at);
  if (!verdict) return undefined;
  const inputs = new Look({ ...ofRun, contents: true });
  const beside = new Look({ ...of, seen: new SeenObjects() });
  try {
    if (of.contents && has.inputs)
      for (const input of view.result?.inputs ?? []) await verifyInput(inputs, at.tenant, input);
    // What was erased may be gone here as well.
    await verifyCopies(beside, view, {
      outputs: has.outputs && !verdict.erased,
      signed: verdict.signedBy !== undefined,
    });
  } catch (error) {
    beside.findings.add(
      'MODIFIED',
      exportPaths.run(at.run),
      'a run that can be verified',
      messageOf(error).slice(0, 300),
    );
  }
  const looks = [inputs, beside];
  const findings = [...verdict.findings, ...looks.flatMap((look) => look.findings.all)].map((one) => placed(one, view));
  const read = (what: 'objects' | 'bytes') => looks.reduce((sum, look) => sum + look.read[what], verdict.read[what]);
  const besides = (verdict.ignored ?? []).map((one) => ({ ...one, object: view.inPlaces(one.object) }));
  const ignored = [...besides, ...beside.ignored];
  return {
    ...verdict,
    ...(ignored.length > 0 ? { ignored } : {}),
    findings,
    read: { objects: read('objects'), bytes: read('bytes') },
    verdict: findings[0]?.verdict ?? 'VALID',
  };
}

/** One run that can't be read must not end the audit of all the others. */
function unreadable({ tenant, run }: ExportedRun, error: unknown): RunVerdict {
  const object = exportPaths.committed(run);
  const found = messageOf(error).slice(0, 300);
  const finding = { verdict: 'MODIFIED' as const, object, expected: 'a result that can be read', found };
  return { run, tenant, verdict: 'MODIFIED', findings: [finding], read: { objects: 0, bytes: 0 } };
}

const placed = (finding: Finding, view: ExportedRunReader): Finding => ({
  ...finding,
  object: view.inPlaces(finding.object),
  expected: view.inPlaces(finding.expected),
});
