import { mkdir, mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Finding, RunVerdict } from '@hotcell/contract/evidence/verdict.ts';
import { HotcellError } from '@hotcell/contract/errors.ts';
import { Buckets } from '@hotcell/record/buckets.ts';
import type { ExportedRun } from '@hotcell/record/export/export-layout.ts';
import { TarWriter } from '@hotcell/record/export/tar-writer.ts';
import { StoreReader } from '@hotcell/record/verify/store-reader.ts';
import { TarReader } from '@hotcell/record/verify/tar-reader.ts';
import { trustedKeys } from '@hotcell/record/verify/trusted-keys.ts';
import type { VerifyingKey } from '@hotcell/contract/evidence/signing-key.ts';
import { trustedRoots } from '@hotcell/setup/keys/trusted-roots.ts';
import type { Installation } from '@hotcell/setup/settings/installation.ts';
import { verifyExport } from '../evidence/verify-export.ts';
import { writeExport } from '../evidence/write-export.ts';
import { foundIn, type Tampering, tampered, tamperings } from './tampering.ts';

export interface Told {
  what: string;
  /** Undefined if verification did not notice. */
  finding: Finding | undefined;
}

/** Forges the evidence of a run in five ways, each in a copy of its own. The record itself is only read. */
export async function tamperWith(
  installation: Installation,
  at: ExportedRun,
  tell: (told: Told) => void,
): Promise<{ before: RunVerdict; missed: number }> {
  const folder = await mkdtemp(join(tmpdir(), 'hotcell-tamper-'));
  try {
    const roots = await trustedRoots(installation);
    const unpacked = join(folder, 'export');
    await exportTo(installation, at, roots, `${unpacked}.tar`);
    await unpack(`${unpacked}.tar`, unpacked);
    const before = await verdictOf(unpacked, roots);
    let missed = 0;
    for (const one of tamperings) {
      const finding = await tryOne(unpacked, at.run, one, roots);
      if (!finding) missed++;
      tell({ what: one.what, finding });
    }
    return { before, missed };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function tryOne(
  unpacked: string,
  run: string,
  one: Tampering,
  roots: readonly VerifyingKey[],
): Promise<Finding | undefined> {
  const copy = `${unpacked}-changed`;
  await tampered(unpacked, run, one, copy);
  const { findings } = await verdictOf(copy, roots);
  await rm(copy, { recursive: true });
  return foundIn(findings, one);
}

async function exportTo(
  installation: Installation,
  at: ExportedRun,
  roots: readonly VerifyingKey[],
  path: string,
): Promise<void> {
  using store = new Buckets(installation.store);
  const trusted = await trustedKeys(new StoreReader(store), roots);
  const contents = { inputs: true, outputs: true };
  await using tar = await TarWriter.create(path);
  await writeExport({ store, trusted, contents }, [at], tar);
  await tar.finish();
}

/** An archive that this process wrote itself. */
async function unpack(path: string, folder: string): Promise<void> {
  await using archive = await TarReader.open(path);
  for await (const { key } of archive.list('')) {
    const target = join(folder, key);
    await mkdir(dirname(target), { recursive: true });
    const chunks: Buffer[] = [];
    await archive.read(key, (chunk) => chunks.push(Buffer.from(chunk)));
    await using file = await open(target, 'wx');
    await file.writeFile(Buffer.concat(chunks));
  }
}

async function verdictOf(path: string, roots: readonly VerifyingKey[]): Promise<RunVerdict> {
  let verdict: RunVerdict | undefined;
  await verifyExport(path, roots, (said) => (verdict = said));
  if (!verdict) throw new HotcellError('internal', 'The export of the demo has no run.');
  return verdict;
}
