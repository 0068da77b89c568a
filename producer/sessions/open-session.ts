import { judgeSpec } from '@hotcell/contract/admission.ts';
import type { Digest } from '@hotcell/contract/digest.ts';
import { HotcellError } from '@hotcell/contract/errors.ts';
import { InTurn } from '@hotcell/contract/in-turn.ts';
import type { RunId } from '@hotcell/contract/names.ts';
import type { Retention } from '@hotcell/contract/retention.ts';
import type { StepRules } from '@hotcell/contract/session/judge-step.ts';
import type { SessionTerms } from '@hotcell/contract/session/session-terms.ts';
import type { CodeStep, StepRecord } from '@hotcell/contract/session/step.ts';
import type { Kept } from '@hotcell/record/session-steps.ts';
import { readStep } from '@hotcell/record/session-steps.ts';
import { readOpenMarker } from '@hotcell/record/run-marks.ts';
import type { Producer } from '../producer.ts';

/** By which a caller may send a step again: its key, and what it sent under it. */
export type Repeat = NonNullable<CodeStep['repeat']>;

/** What is remembered of a link: never its code. */
export interface KnownLink {
  digest: Digest;
  kind: StepRecord['kind'];
  repeat: Repeat | undefined;
}

/** A session as its spec, its policy and its chain so far say. */
export interface OpenSession {
  tenant: string;
  run: RunId;
  spec: Digest;
  retention: Retention | undefined;
  terms: SessionTerms;
  rules: StepRules;
  /** Whether its policy has code screened. */
  screening: boolean;
  links: KnownLink[];
  /** Two steps that come at once are written one after the other. */
  turn: InTurn;
}

const mostRemembered = 1_000;

/** The sessions that this producer was asked about lately. All of it is in the record. */
export class OpenSessions {
  readonly #known = new Map<string, Promise<OpenSession>>();

  async of(producer: Producer, tenant: string, run: RunId): Promise<OpenSession> {
    const key = `${tenant}/${run}`;
    const known = this.#known.get(key) ?? readOpen(producer, tenant, run);
    this.#known.delete(key);
    this.#known.set(key, known);
    // One that could not be read is read again by the next request; this one is told by its own await.
    known.catch(() => this.#known.delete(key));
    for (const oldest of this.#known.keys()) {
      if (this.#known.size <= mostRemembered) break;
      this.#known.delete(oldest);
    }
    return await known;
  }
}

async function readOpen(producer: Producer, tenant: string, run: RunId): Promise<OpenSession> {
  const digest = await specOf(producer, tenant, run);
  if (!digest) throw new HotcellError('not_found', `Run ${run} not found. GET /v1/runs shows those that exist.`);
  using found = await producer.specs.whole(tenant, run, digest);
  const { spec } = found;
  const { policy } = await producer.pins.get(spec.policy.digest);
  const judged = judgeSpec(spec, policy);
  if (!spec.session || !judged.admitted || !judged.effective.session)
    throw new HotcellError('conflict', `Run ${run} is not a session: only a session takes steps.`);
  const { languages, limits, session } = judged.effective;
  const rules = { languages, limits, argv: session.argv, hasWorkspace: spec.workspace !== undefined };
  const { retention, session: terms } = spec;
  const { screening } = policy;
  const open = { tenant, run, spec: digest, retention, terms, rules, screening, links: [], turn: new InTurn() };
  await catchUp(producer, open);
  return open;
}

/** One that is over may have been cleared up: then its result names its spec. */
async function specOf(producer: Producer, tenant: string, run: RunId): Promise<Digest | null | undefined> {
  const marker = await readOpenMarker(producer.store, tenant, run);
  return marker ? marker.spec : (await producer.news.resultOf(tenant, run))?.spec;
}

/** Other producers, and this one before it was started, may have written links. */
export async function catchUp({ store }: Pick<Producer, 'store'>, session: OpenSession): Promise<void> {
  for (;;) {
    const link = await readStep(store, session.tenant, session.run, session.links.length);
    if (!link) return;
    session.links.push(known(link));
  }
}

export function known({ value, digest }: Kept<StepRecord>): KnownLink {
  return { digest, kind: value.kind, repeat: value.kind === 'step' ? value.repeat : undefined };
}
