import { payloadOf } from '@hotcell/contract/evidence/dsse.ts';
import { tryBundle } from '@hotcell/contract/evidence/evidence-bundle.ts';
import { Statement } from '@hotcell/contract/evidence/statement.ts';
import { parseKept } from '@hotcell/contract/parse.ts';
import { readManifest } from '@hotcell/contract/snapshot.ts';
import type { Result } from '@hotcell/contract/result.ts';
import type { Spec } from '@hotcell/contract/spec.ts';
import type { Eraser } from '@hotcell/contract/evidence/root-succession.ts';
import { isErasedFrom } from '../erased-keys.ts';
import { recordKeys } from '../layout.ts';
import { effectiveOf, readAsked } from '../verify/read-asked.ts';
import { type RecordReader, readWhole } from '../verify/record-reader.ts';
import { trustedErasure } from '../verify/trusted-erasure.ts';
import { Look, SeenObjects } from '../verify/verification.ts';
import { type ExportedRun, type ExportIndex, exportPaths, ownPaths, pathOf, resultIn } from './export-layout.ts';
import { pathProblem } from './tar-index.ts';

/** What the record has of a run, as far as it can be read: an export of a damaged run is made too, to show the damage. */
export interface RunToExport {
  at: ExportedRun;
  result: Result | undefined;
  spec: Spec | undefined;
  /** Objects of the record, and where an export has them. */
  objects: RunObject[];
}

interface RunObject {
  key: string;
  path: string;
}

/** Everything that a verifier asks for when it verifies this run, and whatever else stands under the run. */
export async function recordedRun(
  reader: RecordReader,
  at: ExportedRun,
  contents: ExportIndex['contents'],
  erasers: readonly Eraser[] = [],
): Promise<RunToExport> {
  const result = await committedResult(reader, at);
  const own = ownPaths(at, result);
  const keys = new Set<string>();
  for await (const { key, hidden } of reader.list(recordKeys.run(at.tenant, at.run))) if (!hidden) keys.add(key);
  const objects = (named: Iterable<string>) => Array.from(named, (key) => ({ key, path: pathOf(key, at, own) }));
  if (!result) return { at, result, spec: undefined, objects: objects(keys) };
  const { tenant } = at;
  // It is only asked what there is: nothing of it is believed.
  const trusting = { installation: '', keys: new Map(), erasers };
  const look = new Look({ reader, ...trusting, contents: false, now: new Date(0), seen });
  look.keys = [...keys];
  const erasure = await trustedErasure(look, result);
  if (erasure) for (const key of look.keys) if (isErasedFrom(at, key)) keys.delete(key);
  const isErased = keys.has(recordKeys.erasure(tenant, at.run)) && !keys.has(recordKeys.spec(tenant, at.run));
  const asked = await readAsked(look, result, isErased ? await statementOfRun(reader, result) : undefined);
  const effective = effectiveOf(result, asked);
  for (const key of own.keys()) if (!erasure || !isErasedFrom(at, key)) keys.add(key);
  if (effective?.packages) keys.add(recordKeys.image(effective.packages));
  for (const digest of Object.values(effective?.seccomp ?? {})) keys.add(recordKeys.seccomp(digest));
  if (effective?.preload) keys.add(recordKeys.preload(effective.preload.digest));
  for (const { snapshot, locations } of [...result.inputs, ...startOf(result)]) {
    keys.add(recordKeys.manifest(tenant, snapshot));
    if (locations) keys.add(recordKeys.locations(tenant, locations));
    if (contents.inputs) for (const key of await inputContents(reader, tenant, snapshot)) keys.add(key);
  }
  if (result.workspace?.after) keys.add(recordKeys.manifest(tenant, result.workspace.after));
  if (result.workspace?.after && contents.inputs && !erasure)
    for (const key of await inputContents(reader, tenant, result.workspace.after)) keys.add(key);
  return {
    at,
    result,
    // What the statement has of an erased one is no spec: code without text would be written.
    spec: asked.isErased ? undefined : asked.spec,
    objects: [...objects(keys), ...(contents.outputs && !erasure ? outputContents(at, result) : [])],
  };
}

/** What is left of what was asked, of a run that was erased. Whether it is signed is for a verifier of the export to say. */
async function statementOfRun(reader: RecordReader, { evidence }: Result): Promise<Statement | undefined> {
  const bytes = evidence && (await readWhole(reader, evidence.bundle));
  const read = bytes && tryBundle(bytes.toString('utf8'));
  if (!read || 'problem' in read) return undefined;
  const payload = payloadOf(read.bundle.dsseEnvelope).toString('utf8');
  try {
    return parseKept(Statement, payload, 'the statement', 'record_damaged').value;
  } catch {
    return undefined;
  }
}

/** What its workspace began with: an input like the others. */
const startOf = ({ workspace }: Result) =>
  workspace ? [{ snapshot: workspace.before, locations: workspace.locations }] : [];

const seen = new SeenObjects();

/** Undefined for a run without a result, and for a result that was altered. */
export async function committedResult(reader: RecordReader, at: ExportedRun): Promise<Result | undefined> {
  const bytes = await readWhole(reader, recordKeys.result(at.tenant, at.run));
  return bytes && resultIn(bytes, at);
}

async function inputContents(
  reader: RecordReader,
  tenant: string,
  snapshot: Result['inputs'][number]['snapshot'],
): Promise<string[]> {
  const manifest = await readWhole(reader, recordKeys.manifest(tenant, snapshot));
  try {
    const files = manifest ? readManifest(manifest.toString('utf8'), snapshot) : [];
    return files.map(({ sha256 }) => recordKeys.cas(tenant, sha256));
  } catch {
    // The verifier of the export says what is wrong with it.
    return [];
  }
}

/** At their own names. A damaged result could name a place outside the run's folder. */
function outputContents({ tenant, run }: ExportedRun, { outputs }: Result): RunObject[] {
  return outputs.files
    .filter(({ path }) => pathProblem(path) === undefined)
    .map(({ path, sha256 }) => ({ key: recordKeys.cas(tenant, sha256), path: `${exportPaths.outputs(run)}${path}` }));
}
