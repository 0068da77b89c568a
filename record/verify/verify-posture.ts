import type { Effective } from '@hotcell/contract/admission.ts';
import { sha256 } from '@hotcell/contract/digest.ts';
import { differencesOf } from '@hotcell/contract/evidence/json-differences.ts';
import { briefFacts, fillForm } from '@hotcell/contract/posture-form.ts';
import { type Posture, PostureForm, type TakenPosture } from '@hotcell/contract/posture.ts';
import type { Result } from '@hotcell/contract/result.ts';
import { claimedDifferences } from '@hotcell/contract/posture/posture-claimed.ts';
import { workspaceInput } from '@hotcell/contract/workspace.ts';
import { recordKeys } from '../layout.ts';
import { type Asked, effectiveOf, readNamed } from './read-asked.ts';
import { readWhole } from './record-reader.ts';
import type { Look } from './verification.ts';
import { wasExecuted } from './was-executed.ts';

const mostShown = 10;

/** No code without a posture, and no posture that the pinned policy does not allow. */
export async function verifyPosture(look: Look, result: Result, asked: Asked): Promise<void> {
  const { findings, of } = look;
  const key = `${recordKeys.result(result.tenant, result.run)}: posture`;
  const { runtime } = result;
  const posture = result.posture && (await wholeOf(look, result.tenant, result.posture));
  if (!result.posture) {
    if (wasExecuted(result)) findings.add('INCONSISTENT', key, 'a posture, since code was executed', 'none');
    return;
  }
  const judged = effectiveOf(result, asked);
  if (!judged || !posture) return;
  const effective = asked.isErased ? withoutValues(judged) : judged;
  const profiles = Object.entries(effective.seccomp).filter(([name]) => name.startsWith(`${runtime}-`));
  const machine = machineOf(posture.inside['kernel']);
  const pinned = profiles.find(([name]) => name === `${runtime}-${machine}`)?.[1];
  if (!pinned) findings.add('INCONSISTENT', key, `a machine for which the policy pins a profile`, machine);
  const profile = pinned && (await readWhole(of.reader, recordKeys.seccomp(pinned), of.room));
  // One that was altered is named among the contents; nothing follows from it.
  const seccomp = profile && sha256(profile) === pinned ? profile.toString('utf8') : undefined;
  const { given: told } = result.posture;
  const given = told && asked.isErased ? { env: {} } : told;
  if (result.timings.warm !== (given !== undefined))
    findings.add(
      'INCONSISTENT',
      key,
      result.timings.warm
        ? 'what was given to a cell that had waited'
        : 'nothing given later to a cell made for its run',
      given ? 'some' : 'none',
    );
  const { preload } = result.timings;
  if (preload !== undefined && (preload !== effective.preload?.name || !result.timings.warm))
    findings.add('INCONSISTENT', key, "the policy's preload, in a cell that had waited", preload);
  const claimed = { posture, given, inputs: mountsOf(result), effective, seccomp };
  for (const difference of [...claimedDifferences(claimed)].slice(0, mostShown))
    findings.add('INCONSISTENT', key, 'what the pinned policy requires', difference);
}

/** The names of what is mounted in a cell that was made for its run. */
const mountsOf = ({ inputs, workspace }: Result) => [
  ...inputs.map(({ name }) => name),
  ...(workspace ? [workspaceInput] : []),
];

/** From the form that many cells share and this cell's own words. */
async function wholeOf(look: Look, tenant: string, named: Posture): Promise<TakenPosture | undefined> {
  const { digest, own = {} } = named;
  if (digest === undefined) return named;
  const form = await readNamed(look, PostureForm, recordKeys.posture(tenant, digest), digest);
  const whole = form && fillForm(form, own);
  if (whole)
    for (const { path, expected, found } of differencesOf(
      { ...briefFacts(form), worth: form.worth },
      { inside: named.inside, outside: named.outside, worth: named.worth },
    ))
      look.findings.add('INCONSISTENT', `posture.${path}`, `${expected}, as in the form ${digest}`, found);
  return whole;
}

/** The values of variables went with the spec; their names are known. */
const withoutValues = (effective: Effective): Effective => ({
  ...effective,
  env: {},
  imageEnv: [...effective.imageEnv, ...Object.keys(effective.env)],
});

function machineOf(kernel: unknown): string {
  const [line] = Array.isArray(kernel) ? kernel : [];
  return / machine=(\S+)$/.exec(String(line))?.[1] ?? 'unknown';
}
