import { VerifyingKey } from '@hotcell/contract/evidence/signing-key.ts';
import { FolderReader } from '@hotcell/record/verify/folder-reader.ts';
import { runsIn } from '@hotcell/record/verify/runs-in.ts';
import { trustedKeys } from '@hotcell/record/verify/trusted-keys.ts';
import { verificationBy } from '@hotcell/record/verify/verification.ts';
import { verifyAll } from '@hotcell/record/verify/verify-all.ts';
import { sayAtEnd } from './own-process.ts';

/** Verifies a copy of a record. */
const { folder, root } = JSON.parse(process.env['ASKED'] ?? '') as { folder: string; root: string };
const reader = new FolderReader(folder);
const of = verificationBy(reader, await trustedKeys(reader, [new VerifyingKey(root)]));
const begun = performance.now();
await verifyAll(of, runsIn(reader), ({ verdict, findings }) => {
  if (verdict !== 'VALID') throw new Error(`${verdict}: ${JSON.stringify(findings[0])}`);
});
sayAtEnd(performance.now() - begun);
