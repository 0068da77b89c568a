import { type Digest, sha256 } from '@hotcell/contract/digest.ts';
import { Spec } from '@hotcell/contract/spec.ts';
import { exportPaths } from '../export/export-layout.ts';
import { runCopies } from '../export/run-copies.ts';
import { recordKeys } from '../layout.ts';
import { readNamed } from './read-asked.ts';
import { isLeftover } from './leftovers.ts';
import type { ExportedRunReader } from './exported-run-reader.ts';
import { Look } from './verification.ts';

/**
 * What stands in a run's folder beside the objects of the record: each is made again and compared. A person believes what
 * lies there, so a file that nothing vouches for is a finding too. The page is not compared: it is no evidence, and says so.
 */
export async function verifyCopies(
  look: Look,
  view: ExportedRunReader,
  { outputs: hasOutputs, signed }: { outputs: boolean; signed: boolean },
): Promise<void> {
  const { run } = view.at;
  const copies = await copiesOf(look, view);
  const outputs = outputsOf(view);
  for (const [path, digest] of copies) await look.matches(path, digest);
  const missing = new Map(outputs);
  for await (const { key } of look.of.reader.list(exportPaths.run(run))) {
    const digest = outputs.get(key);
    missing.delete(key);
    if (digest && look.of.contents) await look.matches(key, digest);
    else if (!digest && !copies.has(key) && key !== exportPaths.runPage(run)) judgeOther(look, view, key, signed);
  }
  if (look.of.contents && hasOutputs)
    for (const [path, digest] of missing) look.findings.add('MISSING', path, digest, 'nothing');
}

/** Of a run without a signature that counts nothing can be vouched for; its verdict says so. */
function judgeOther({ findings, ignored }: Look, view: ExportedRunReader, path: string, isSigned: boolean): void {
  if (isSigned ? view.wasRead(path) : view.hasPlace(path)) return;
  if (isLeftover(path.slice(exportPaths.run(view.at.run).length)))
    ignored.push({ object: path, problem: 'no signature vouches for it' });
  else findings.add('MODIFIED', path, 'nothing: no signature vouches for it', 'a file');
}

async function copiesOf({ of }: Look, view: ExportedRunReader): Promise<Map<string, Digest>> {
  const { at, result } = view;
  // That the spec is damaged was found before.
  const quiet = new Look({ ...of, reader: view });
  const key = recordKeys.spec(at.tenant, at.run);
  const spec = result?.spec ? await readNamed(quiet, Spec, key, result.spec) : undefined;
  return new Map(runCopies(at.run, result, spec).map(({ path, bytes }) => [path, sha256(bytes)]));
}

function outputsOf({ at, result }: ExportedRunReader): Map<string, Digest> {
  const folder = exportPaths.outputs(at.run);
  return new Map(result?.outputs.files.map(({ path, sha256: digest }) => [`${folder}${path}`, digest]));
}
