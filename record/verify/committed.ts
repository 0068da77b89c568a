import { canonical } from '@hotcell/contract/digest.ts';
import { messageOf } from '@hotcell/contract/errors.ts';
import type { RunId } from '@hotcell/contract/names.ts';
import { parseKept } from '@hotcell/contract/parse.ts';
import { Result } from '@hotcell/contract/result.ts';
import { Spec } from '@hotcell/contract/spec.ts';
import { recordKeys } from '../layout.ts';
import type { FoundKey } from './record-reader.ts';
import type { Look } from './verification.ts';

/** How long an accepted run may wait and be tried again before it counts as open, beside its own time limit. */
const patienceMs = 24 * 60 * 60 * 1000;
const mostTries = 3;
/** The longest that a policy may allow. */
const longestSeconds = 7 * 24 * 60 * 60;

/**
 * The result that was committed for a run; what stands in its place if there is none. `no run`: a spec whose acceptance
 * broke off before anything was promised.
 */
export async function findCommitted(look: Look, tenant: string, run: RunId): Promise<Result | 'no run' | undefined> {
  const there = await keysOf(look, tenant, run);
  look.keys = [...there.keys()];
  const key = recordKeys.result(tenant, run);
  for (const found of there.values()) judgeHistory(look, found);
  const found = there.get(key);
  if (!found || found.hidden) {
    if (look.findings.all.length > 0) return undefined;
    if (await wasNeverPromised(look, tenant, run, there)) return 'no run';
    await judgeAbsence(look, tenant, run, [...there.keys()]);
    return undefined;
  }
  const bytes = await look.whole(key);
  return bytes && readCommitted(look, key, bytes, { tenant, run });
}

async function keysOf(look: Look, tenant: string, run: RunId): Promise<Map<string, FoundKey>> {
  const there = new Map<string, FoundKey>();
  for await (const found of look.of.reader.list(recordKeys.run(tenant, run))) there.set(found.key, found);
  return there;
}

/** The promise is the open marker, which goes only when there is a result: so the result is looked for once more. */
async function wasNeverPromised(
  look: Look,
  tenant: string,
  run: RunId,
  there: Map<string, FoundKey>,
): Promise<boolean> {
  const isSpecAlone = there.size === 1 && there.has(recordKeys.spec(tenant, run));
  if (!isSpecAlone || !look.of.reader.isOpen || (await look.of.reader.isOpen(tenant, run))) return false;
  return (await keysOf(look, tenant, run)).size === 1;
}

/** Each object of a run is put once, and none of them is ever deleted before its run is. */
function judgeHistory({ findings }: Look, { key, versions, hidden }: FoundKey): void {
  if (hidden) findings.add('MISSING', key, 'an object', 'a deletion that hides it');
  else if (versions > 1) findings.add('MODIFIED', key, 'one version', `${versions} versions, put over each other`);
}

/** What an attempt left proves that the run began; its spec alone proves only that the run was asked for. */
async function judgeAbsence(look: Look, tenant: string, run: RunId, there: readonly string[]): Promise<void> {
  const { findings } = look;
  const key = recordKeys.result(tenant, run);
  if (there.length === 0) return findings.add('MISSING', recordKeys.run(tenant, run), 'a run', 'nothing');
  const signed = there.find((one) => one.endsWith('/evidence.sigstore.json'));
  const deadline = there.includes(recordKeys.spec(tenant, run)) ? await deadlineOf(look, tenant, run) : 0;
  const due = `a result by ${new Date(deadline).toISOString()}`;
  if (look.of.now.getTime() <= deadline) return findings.add('PENDING', key, due, 'no result yet');
  if (signed === undefined) return findings.add('OPEN', key, due, 'no result');
  findings.add('MISSING', key, `the result that ${signed} attests`, 'nothing, or its writer died before it put it');
}

async function deadlineOf(look: Look, tenant: string, run: RunId): Promise<number> {
  const bytes = await look.whole(recordKeys.spec(tenant, run));
  try {
    const text = bytes?.toString('utf8') ?? '';
    const { acceptedAt, notBefore, limits } = parseKept(Spec, text, 'the spec', 'record_damaged').value;
    const seconds = Math.min(limits.timeoutSeconds ?? longestSeconds, longestSeconds);
    const from = Math.max(Date.parse(acceptedAt), Date.parse(notBefore ?? acceptedAt));
    return from + patienceMs + mostTries * seconds * 1000;
  } catch {
    // Without a spec to read, nothing says that there is any time left.
    return 0;
  }
}

function readCommitted(
  { findings }: Look,
  key: string,
  bytes: Buffer,
  at: { tenant: string; run: RunId },
): Result | undefined {
  const text = bytes.toString('utf8');
  let result: Result;
  let form: string;
  try {
    result = parseKept(Result, text, 'the result', 'record_damaged').value;
    // A string with half of a surrogate pair is JSON and has no canonical form.
    form = canonical(result);
  } catch (error) {
    findings.add('MODIFIED', key, 'a result', messageOf(error).slice(0, 300));
    return undefined;
  }
  if (result.run !== at.run || result.tenant !== at.tenant) {
    findings.add('MODIFIED', key, `the result of ${at.tenant}/${at.run}`, `that of ${result.tenant}/${result.run}`);
    return undefined;
  }
  if (form !== text) {
    findings.add('MODIFIED', key, 'the canonical form of a result', 'the same value in other bytes');
    return undefined;
  }
  return result;
}
