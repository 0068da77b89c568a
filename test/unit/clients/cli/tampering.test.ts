import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, describe, test } from 'node:test';
import { foundIn, tampered, tamperings } from '@hotcell/cli/demo/tampering.ts';
import { verifyExport } from '@hotcell/cli/evidence/verify-export.ts';
import type { Finding } from '@hotcell/contract/evidence/verdict.ts';
import { exportOf, exportSigner, putExecuted } from '../../../support/exported-run.ts';
import { listKeys, Memory, root } from '../../../support/signed-record.ts';

const folder = mkdtempSync(join(tmpdir(), 'hotcell-tampering-'));
after(() => rmSync(folder, { recursive: true, force: true }));

const record = new Memory();
listKeys(record, exportSigner.listed);
const at = await putExecuted(record);
const unpacked = join(folder, 'export');
for (const [path, bytes] of await exportOf(record, [at])) {
  mkdirSync(dirname(join(unpacked, path)), { recursive: true });
  writeFileSync(join(unpacked, path), bytes);
}

async function findingsIn(path: string): Promise<Finding[]> {
  let findings: Finding[] = [];
  await verifyExport(path, [root.public], (said) => (findings = said.findings));
  return findings;
}

describe('what the demo changes in the evidence of a run', () => {
  test('is five things, of which an unchanged export has none', async () => {
    const findings = await findingsIn(unpacked);
    assert.equal(tamperings.length, 5);
    for (const one of tamperings) assert.equal(foundIn(findings, one), undefined, one.what);
  });

  for (const [i, one] of tamperings.entries())
    test(`is found: an insider ${one.what}`, async () => {
      const copy = join(folder, `changed-${i}`);
      await tampered(unpacked, at.run, one, copy);
      const findings = await findingsIn(copy);
      assert.ok(foundIn(findings, one), JSON.stringify(findings));
    });
});
