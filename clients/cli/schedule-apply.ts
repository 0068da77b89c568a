import type { AppliedSchedule, VersionOfSchedule } from '@hotcell/contract/api/schedules.ts';
import { HotcellError } from '@hotcell/contract/errors.ts';
import type { Hotcell } from '@hotcell/client/index.ts';
import type { RunRequest } from '@hotcell/contract/spec.ts';
import { createPatch, OMIT_HEADERS } from 'diff';
import type { AtHand } from './client.ts';
import { everyPage } from './every-page.ts';
import { printJson } from './globals.ts';
import { inCommands } from './in-commands.ts';
import { readSchedules, type WrittenSchedule } from './schedule-file.ts';
import { uploadsTo } from './submit-request.ts';
import { visibleLine } from './visible.ts';

export interface ApplyOptions {
  dryRun?: boolean;
  prune?: boolean;
}

/** What became of one schedule, or would. */
interface Applied {
  name: string;
  result: AppliedSchedule['result'] | 'failed' | 'not in files' | 'removed';
  file?: string;
  changes: { path: string; before: string; after: string }[];
  /** The lines of code that differ. */
  patches: { path: string; patch: string }[];
  message?: string;
}

/** Makes the installation have the schedules of these files; the files before it are applied when one is refused. */
export async function applyFiles(at: AtHand, paths: readonly string[], options: ApplyOptions): Promise<void> {
  const { client, globals } = at;
  const written = await readSchedules(paths);
  const named = new Set(written.map(({ name }) => name));
  const tell = (applied: Applied) =>
    globals.json ? printJson(applied) : process.stdout.write(appliedText(applied, options));
  let failed = 0;
  for (const schedule of written) {
    const applied = await applyOne(at, schedule, options);
    if (applied.result === 'failed') failed++;
    tell(applied);
  }
  for (const { name } of await allSchedules(client)) {
    if (named.has(name)) continue;
    const goes = options.prune === true && failed === 0;
    if (goes && options.dryRun !== true) await client.schedules.remove(name);
    tell({ name, result: goes ? 'removed' : 'not in files', changes: [], patches: [] });
  }
  if (failed > 0) process.exitCode = 1;
}

export const allSchedules = (client: Hotcell) =>
  everyPage(
    (cursor) => client.schedules.list({ limit: 200, cursor }),
    ({ schedules }) => schedules,
  );

async function applyOne(at: AtHand, schedule: WrittenSchedule, { dryRun = false }: ApplyOptions): Promise<Applied> {
  const { client, reporter } = at;
  const { name, file } = schedule;
  const freeze = async (path: string) => (await import('./upload-sources.ts')).idOfSource(path, reporter);
  try {
    const asked = await schedule.application(dryRun ? freeze : uploadsTo(client, reporter));
    const { result, changes, before, stopped } = await client.schedules.apply(name, { ...asked, dryRun });
    const patches =
      changes.some(({ path }) => isCode(path)) && before !== null
        ? patchesBetween(await client.schedules.version(name, before), asked.run)
        : [];
    const message = stopped && `${stopped.kind} by ${stopped.by}: ${stopped.reason}`;
    return { name, result, file, changes, patches, ...(message !== undefined && { message }) };
  } catch (error) {
    if (!(error instanceof HotcellError) || error.retryable || error.code === 'forbidden') throw error;
    return { name, result: 'failed', file, changes: [], patches: [], message: error.message };
  }
}

const isCode = (path: string) => path === 'run.blocks' || path === 'run.files';

/** Longer texts, and texts with more differences, are only named. */
const most = { chars: 1_000_000, edits: 2_000 };

function patchesBetween({ run: before }: Pick<VersionOfSchedule, 'run'>, after: RunRequest): Applied['patches'] {
  const [old, now] = [textsOf(before), textsOf(after)];
  const differing = [...new Set([...old.keys(), ...now.keys()])].filter((path) => old.get(path) !== now.get(path));
  let room = most.chars;
  return differing.map((path) => {
    const [was, is] = [old.get(path) ?? '', now.get(path) ?? ''];
    room -= was.length + is.length;
    const options = { context: 2, maxEditLength: most.edits, headerOptions: OMIT_HEADERS };
    const patch = room < 0 ? undefined : createPatch(path, was, is, undefined, undefined, options);
    return { path, patch: patch ?? 'Too much differs to show it.\n' };
  });
}

/** What is executed and what lies beside it, by where it stands in the request. */
function textsOf({ blocks, files = [] }: RunRequest): Map<string, string> {
  const texts = new Map<string, string>();
  for (const [i, block] of blocks.entries()) {
    const name = 'code' in block && block.file !== undefined ? ` (${block.file})` : '';
    texts.set(`run.blocks.${i}${name}`, 'code' in block ? block.code : JSON.stringify(block.argv));
  }
  for (const file of files) texts.set(`run.files (${file.path})`, 'text' in file ? file.text : file.base64);
  return texts;
}

function appliedText({ name, result, file, changes, patches, message }: Applied, { dryRun, prune }: ApplyOptions) {
  const would = dryRun === true && ['new', 'changed', 'removed'].includes(result) ? 'would be ' : '';
  const what = result === 'not in files' && prune !== true ? `${result}; --prune removes it` : `${would}${result}`;
  const shownAsLines = patches.length > 0 ? changes.filter(({ path }) => !isCode(path)) : changes;
  return [
    `${name}  ${what}${file === undefined ? '' : `  (${file})`}`,
    ...(message === undefined ? [] : [`  ${visibleLine(inCommands(message))}`]),
    ...shownAsLines.map(({ path, before, after }) => `  ${visibleLine(`${path}: ${before} → ${after}`)}`),
    ...patches.flatMap(({ path, patch }) => [
      `  ${path}`,
      ...patch
        .trimEnd()
        .split('\n')
        .map((line) => `    ${visibleLine(line)}`),
    ]),
    '',
  ].join('\n');
}
