import { counted } from './format.ts';
import { resolveBlocks } from './blocks.ts';
import type { Issue } from './errors.ts';
import { inPages, laidOut } from './laid-out.ts';
import { type LimitName, type Limits, showLimit } from './limits.ts';
import type { Policy } from './policy.ts';
import type { SnapshotEntry } from './snapshot.ts';
import type { Spec } from './spec.ts';
import { workspacePaths } from './workspace.ts';

const mostNamed = 20;

/** What the run itself brings into /work. */
export interface OwnFiles {
  bytes: number;
  inodes: number;
  /** Where each is named in the request. */
  paths: readonly { at: string; file: string }[];
}

export function ownFilesOf({ blocks, files }: Pick<Spec, 'blocks' | 'files'>, policy: Policy): OwnFiles {
  const { resolved } = resolveBlocks(blocks, files, policy.languages);
  const paths = [
    ...resolved.flatMap(({ index, file }) => (file === null ? [] : [{ at: `blocks[${index}].file`, file }])),
    ...files.map(({ path }, i) => ({ at: `files[${i}].path`, file: path })),
  ];
  return { ...laidOut({ blocks, files }, policy), paths };
}

/** A run whose workspace doesn't fit into its /work, or would hide its own code, is refused before it is accepted. */
export function judgeWorkspace(
  entries: readonly SnapshotEntry[],
  own: OwnFiles,
  limits: Limits,
  policy: Pick<Policy, 'name' | 'limits'>,
): Issue[] {
  return [...unfit(entries, own, limits, policy), ...unkeepable(entries), ...hidden(entries, own)];
}

function* unfit(
  entries: readonly SnapshotEntry[],
  own: OwnFiles,
  limits: Limits,
  policy: Pick<Policy, 'name' | 'limits'>,
): Generator<Issue> {
  const bytes = entries.reduce((sum, { size }) => sum + inPages(size), own.bytes);
  const needs = (name: LimitName, needed: number, what: string): Issue => ({
    path: `limits.${name}`,
    message: `The workspace needs ${showLimit(name, needed)}${what}, and the run has ${showLimit(name, limits[name])}. Ask for more (policy ${policy.name} allows at most ${showLimit(name, policy.limits[name].max)}), or use a smaller workspace.`,
  });
  const inWork = ' of /work, with the code and in whole pages';
  if (bytes > inPages(limits.scratchBytes)) yield needs('scratchBytes', bytes, inWork);
  // /work lies in the memory of the cell.
  else if (bytes >= limits.memoryBytes) yield needs('memoryBytes', bytes, ' of memory, since /work lies in it');
  const inodes = own.inodes + entries.length + foldersOf(entries).size;
  if (inodes > limits.scratchInodes) yield needs('scratchInodes', inodes, ' files and folders in /work');
  const largest = entries.reduce((most, { size }) => Math.max(most, size), 0);
  if (largest > limits.fileBytes) yield needs('fileBytes', largest, ' for one of its files');
}

/** What the end of the run could not keep is not laid out at its start. */
function* unkeepable(entries: readonly SnapshotEntry[]): Generator<Issue> {
  const { bytes, parts } = workspacePaths;
  const found = entries.filter(({ path }) => Buffer.byteLength(path) > bytes || path.split('/').length > parts);
  const [first] = found;
  if (!first) return;
  const more = found.length > 1 ? ` and ${counted(found.length - 1, 'other path')}` : '';
  const named = first.path.length > 80 ? `${first.path.slice(0, 80)}…` : first.path;
  const message = `A workspace's paths have at most ${bytes} bytes and ${parts} parts: ${JSON.stringify(named)}${more} can't be laid out in /work. Use it as an input.`;
  yield { path: 'workspace', message };
}

/** The code and the bundled files lie in /work too, and belong to the run: none can take the place of a file. */
function* hidden(entries: readonly SnapshotEntry[], { paths }: OwnFiles): Generator<Issue> {
  const taken = new Set(entries.map(({ path }) => path));
  const folders = foldersOf(entries);
  const clashes = (path: string) =>
    taken.has(path) || folders.has(path) || [...aboveOf(path)].some((folder) => taken.has(folder));
  for (const { at, file } of paths.filter((one) => clashes(one.file)).slice(0, mostNamed))
    yield {
      path: at,
      message: `${JSON.stringify(file)} is in the workspace already. Choose another name, or run what lies there with { argv: […] }.`,
    };
}

function foldersOf(entries: readonly SnapshotEntry[]): Set<string> {
  const folders = new Set<string>();
  for (const { path } of entries)
    for (const folder of aboveOf(path)) {
      // From below to above: what is known has its own above it.
      if (folders.has(folder)) break;
      folders.add(folder);
    }
  return folders;
}

function* aboveOf(path: string): Generator<string> {
  for (let cut = path.lastIndexOf('/'); cut > 0; cut = path.lastIndexOf('/', cut - 1)) yield path.slice(0, cut);
}
