import { readdir, stat } from 'node:fs/promises';
import { basename, dirname, extname, join } from 'node:path';
import type { routes } from '@hotcell/contract/api/routes.ts';
import type { Call } from '@hotcell/contract/api/call.ts';
import { HotcellError } from '@hotcell/contract/errors.ts';
import { parseAs } from '@hotcell/contract/parse.ts';
import { ScheduleName, ScheduleRules } from '@hotcell/contract/schedule.ts';
import { Callback } from '@hotcell/contract/webhook.ts';
import { z } from 'zod';
import type { FreezePath } from './build-request.ts';
import { parseSeconds } from './durations.ts';
import { unreadable } from '@hotcell/client/file-errors.ts';
import { codeBeside, uploadedInputs, uploadsBeside, writtenRun, yamlIn } from './written-run.ts';

type Application = Call<typeof routes.applySchedule>['json'];

const duration = z.string().transform((text, context) => {
  const seconds = parseSeconds(text);
  if (seconds !== undefined) return seconds;
  context.addIssue({ code: 'custom', message: 'must be a duration like 90s, 15m, 12h or 7d' });
  return z.NEVER;
});

const { overlap, missed, catchUp, pauseAfterFailures } = ScheduleRules.shape;

/** A schedule as people write it: the options of `schedule create`, and beside them those of its runs. */
const ScheduleFile = z.strictObject({
  ...writtenRun,
  callback: Callback.optional(),
  name: ScheduleName.optional().describe('default: the name of the file'),
  cron: z.string().optional(),
  tz: z.string().optional(),
  every: duration.optional(),
  anchor: z.string().optional(),
  onPublish: z.string().optional(),
  overlap: overlap.optional(),
  missed: missed.optional(),
  catchUp: catchUp.optional(),
  jitter: duration.optional(),
  deadline: duration.optional(),
  pauseAfter: pauseAfterFailures,
});
type ScheduleFile = z.infer<typeof ScheduleFile>;

/** A schedule of a file, before anything of it is uploaded. */
export interface WrittenSchedule {
  name: string;
  file: string;
  /** Uploads the folders and files that are inputs. */
  application(freeze: FreezePath): Promise<Omit<Application, 'dryRun'>>;
}

/** All schedules of these files and folders. Every file is read before the first is applied. */
export async function readSchedules(paths: readonly string[]): Promise<WrittenSchedule[]> {
  const files = (await Promise.all(paths.map(filesAt))).flat();
  const found = new Map<string, WrittenSchedule>();
  for (const file of new Set(files)) {
    const written = await readSchedule(file);
    const other = found.get(written.name);
    if (other)
      throw new HotcellError('invalid', `${other.file} and ${file} are both named ${written.name}. Rename one.`);
    found.set(written.name, written);
  }
  return [...found.values()];
}

/** Of a folder, those that end in .yaml or .yml. */
async function filesAt(path: string): Promise<string[]> {
  const about = await stat(path).catch((cause: unknown) => {
    throw unreadable(path, cause);
  });
  if (!about.isDirectory()) return [path];
  const files = (await readdir(path)).filter((name) => /\.ya?ml$/.test(name)).toSorted();
  if (files.length === 0) throw new HotcellError('invalid', `${path} has no file that ends in .yaml or .yml.`);
  return files.map((name) => join(path, name));
}

async function readSchedule(file: string): Promise<WrittenSchedule> {
  const parsed = parseAs(ScheduleFile, await yamlIn(file), file);
  const name = parsed.name ?? parseAs(ScheduleName, basename(file, extname(file)), `${file}: its name`);
  const { trigger, rules, run } = partsOf(file, parsed);
  const folder = dirname(file);
  const { script: _s, code: _c, language: _l, files: _f, ...terms } = run;
  const code = await codeBeside(folder, file, run);
  return {
    name,
    file,
    application: async (freeze) => {
      const inputs = terms.inputs && (await uploadedInputs(terms.inputs, uploadsBeside(folder, freeze)));
      return { trigger, ...rules, run: { ...terms, ...code, ...(inputs && { inputs }) } };
    },
  };
}

function partsOf(file: string, parsed: ScheduleFile) {
  const { name: _, cron, tz, every, anchor, onPublish, ...rest } = parsed;
  const { overlap: o, missed: m, catchUp: c, jitter, deadline, pauseAfter, ...run } = rest;
  const rules = {
    ...(o && { overlap: o }),
    ...(m && { missed: m }),
    ...(c !== undefined && { catchUp: c }),
    ...(jitter !== undefined && { jitterSeconds: jitter }),
    ...(deadline !== undefined && { deadlineSeconds: deadline }),
    ...(pauseAfter !== undefined && { pauseAfterFailures: pauseAfter }),
  };
  return { trigger: triggerIn(file, { cron, tz, every, anchor, onPublish }), rules, run };
}

function triggerIn(
  file: string,
  { cron, tz, every, anchor, onPublish }: Pick<ScheduleFile, 'cron' | 'tz' | 'every' | 'anchor' | 'onPublish'>,
): Application['trigger'] {
  if ([cron, every, onPublish].filter((one) => one !== undefined).length !== 1)
    throw new HotcellError('invalid', `${file}: say when to run, either with "cron", "every" or "onPublish".`);
  if (every === undefined && anchor !== undefined)
    throw new HotcellError('invalid', `${file}: "anchor" is for "every". Leave it out.`);
  if (cron === undefined && tz !== undefined)
    throw new HotcellError('invalid', `${file}: "tz" is for "cron". Leave it out.`);
  if (cron !== undefined) return { cron, ...(tz !== undefined && { timezone: tz }) };
  if (onPublish !== undefined) return { onPublish };
  return { everySeconds: every ?? 0, ...(anchor !== undefined && { anchor }) };
}
