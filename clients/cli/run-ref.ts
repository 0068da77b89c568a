import type { Hotcell, Run } from '@hotcell/client/index.ts';
import { HotcellError } from '@hotcell/contract/errors.ts';
import { RunId } from '@hotcell/contract/names.ts';

/** How many of the newest runs are looked through for a suffix. */
const searched = 500;

/** Help for the argument of every command that takes a run. */
export const aRun = 'its id, the end of its id, @last, or @last~1 for the one before';

/** The run that a person names: by its id, the end of its id as `ls` shows it, `@last`, or `@last~1` for the one before. */
export async function runNamed(client: Hotcell, said: string): Promise<Run> {
  if (RunId.safeParse(said).success) return client.runById(said);
  const [last, back = '0'] = /^@last(?:~(\d{1,3}))?$/.exec(said) ?? [];
  if (last !== undefined) return client.runById(await lastRun(client, Number(back)));
  const [suffix, digits] = /^…?([0-9a-f-]{4,35})$/.exec(said) ?? [];
  return client.runById(suffix === undefined || digits === undefined ? said : await runEndingIn(client, digits));
}

/** The same for commands that read the record: of a whole id the API isn't asked. */
export async function runIdNamed(said: string, client: () => Promise<Hotcell>): Promise<RunId> {
  const whole = RunId.safeParse(said);
  if (whole.success) return whole.data;
  const found = RunId.safeParse((await runNamed(await client(), said)).id);
  if (found.success) return found.data;
  throw new HotcellError('not_found', `Run ${said} not found. ./hotcell ls lists the runs.`);
}

/** The label of runs that a command makes for itself, like a comparison of tables: `@last` passes over them. */
export const helperLabel = 'hotcell-helper';

async function lastRun(client: Hotcell, back: number): Promise<string> {
  const { runs: all } = await client.list({ limit: searched });
  const runs = all.filter(({ labels }) => !Object.hasOwn(labels, helperLabel));
  const found = runs[back];
  if (found) return found.run;
  throw new HotcellError('not_found', `@last~${back} names no run: ./hotcell ls has ${runs.length} so far.`);
}

async function runEndingIn(client: Hotcell, suffix: string): Promise<string> {
  const { runs } = await client.list({ limit: searched });
  const ending = runs.filter(({ run }) => run.endsWith(suffix)).map(({ run }) => run);
  if (ending.length === 1 && ending[0] !== undefined) return ending[0];
  throw ending.length === 0
    ? new HotcellError('not_found', `None of the newest ${searched} runs ends in ${suffix}. Give the whole id.`)
    : new HotcellError(
        'invalid',
        `Several runs end in ${suffix}: ${ending.slice(0, 5).join(', ')}. Give more of the id.`,
      );
}

/** The shortest ends that tell these runs apart. */
export function shortIds(runs: readonly string[]): Map<string, string> {
  for (let length = 6; ; length++) {
    const ends = new Map(runs.map((run) => [run, run.slice(-length)]));
    if (new Set(ends.values()).size === new Set(runs).size) return ends;
  }
}
