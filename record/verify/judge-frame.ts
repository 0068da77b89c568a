import { type Finding, Findings } from '@hotcell/contract/evidence/verdict.ts';
import { VerifyingKey } from '@hotcell/contract/evidence/signing-key.ts';
import { RunId } from '@hotcell/contract/names.ts';
import { type ExportedRun, type ExportIndex, exportPaths } from '../export/export-layout.ts';
import { recordedRun } from '../export/run-objects.ts';
import { verifyGuide } from '../export/verify-guide.ts';
import { recordKeys } from '../layout.ts';
import { exportedRuns } from './export-reader.ts';
import { type RecordReader, readWhole } from './record-reader.ts';
import { ExportedRunReader } from './exported-run-reader.ts';
import type { TrustedKeys } from './trusted-keys.ts';

/** What several runs name by digest: each run that names it compares it. */
const shared = ['seccomp/', 'preloads/', 'images/', 'snapshots/', 'cas/'];
/** No guide and no key is larger. */
const mostRead = 64 * 1024;
/** The commands of the guide make them anew, so what lies there before is never read. */
const madeByGuide: ReadonlySet<string> = new Set(['dsse.py', 'payload', 'signed', 'signature', 'none.json']);
const rootFile = 'root.pem';
const nothing = 'nothing: no signature vouches for it';

type Trusted = Pick<TrustedKeys, 'list' | 'root' | 'erasers'>;

/** What is wrong with the files of an export that belong to no run: a reader believes what lies there. */
export async function judgeFrame(files: RecordReader, index: ExportIndex, trusted: Trusted): Promise<Finding[]> {
  const findings = new Findings();
  const written = new Map([
    ...trusted.list.keys.map((key) => [exportPaths.key(key.role, key.fingerprint), key.publicKey] as const),
    [exportPaths.guide, verifyGuide({ ...index, root: trusted.root.fingerprint })] as const,
  ]);
  const unnamed = new Set<string>();
  for await (const { key, size } of files.list('')) {
    const text = written.get(key);
    if (isElsewhere(key) || madeByGuide.has(key)) continue;
    if (key === rootFile && (await isRoot(files, size, trusted))) continue;
    if (shared.some((prefix) => key.startsWith(prefix))) unnamed.add(key);
    else if (text === undefined) findings.add('MODIFIED', key, nothing, 'a file');
    else if (size > mostRead || (await readWhole(files, key))?.toString('utf8') !== text)
      findings.add('MODIFIED', key, expectedOf(key), 'another file');
  }
  if (unnamed.size > 0)
    for await (const at of exportedRuns(files, index))
      for (const path of await namedBy(files, at, trusted)) unnamed.delete(path);
  for (const key of unnamed) findings.add('MODIFIED', key, 'nothing: no run in this export names it', 'a file');
  for await (const { key, kind } of files.oddities?.() ?? [])
    findings.add('MODIFIED', key, 'files and folders alone', kind);
  return findings.close('the export');
}

/** Judged with its run; or no evidence, as it says itself; or what says where to look. */
function isElsewhere(key: string): boolean {
  const isRuns = key.startsWith('runs/') && RunId.safeParse(key.split('/')[1]).success;
  return isRuns || key === exportPaths.index || key === exportPaths.page || key === recordKeys.keyList;
}

/** The guide has the reader put it there. Another key in its place would make the reader trust a stranger. */
async function isRoot(files: RecordReader, size: number, { root }: Trusted): Promise<boolean> {
  if (size > mostRead) return false;
  try {
    const text = (await readWhole(files, rootFile))?.toString('utf8') ?? '';
    return new VerifyingKey(text, rootFile).fingerprint === root.fingerprint;
  } catch {
    return false;
  }
}

const expectedOf = (key: string) =>
  key === exportPaths.guide ? 'the text that Hotcell writes for this export' : 'the key as the list of keys has it';

/** Everything that an export of this run would have. */
async function namedBy(files: RecordReader, at: ExportedRun, { erasers }: Trusted): Promise<string[]> {
  try {
    const view = await ExportedRunReader.of(files, at);
    const { objects } = await recordedRun(view, at, { inputs: true, outputs: false }, erasers);
    return objects.map(({ path }) => path);
  } catch {
    // What can't be read names nothing, and the verdict on the run says why it can't.
    return [];
  }
}
