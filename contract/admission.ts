import {
  type Candidate,
  type InputFacts,
  judgeBlocks,
  judgeEnv,
  judgeInputSizes,
  judgeLimits,
  judgeRest,
  Refusals,
  type Refuse,
} from './admission-rules.ts';
import { messages } from './admission-messages.ts';
import { judgeLaidOut } from './laid-out.ts';
import { isNeverVariable } from './job-variables.ts';
import type { Digest } from './digest.ts';
import type { Issue } from './errors.ts';
import type { Language } from './languages.ts';
import type { Limits } from './limits.ts';
import { type Policy, queueOf } from './policy.ts';
import type { Role } from './apikey.ts';
import { screen } from './screening.ts';
import { type AskedTerms, judgeTerms, type SessionTerms } from './session/session-terms.ts';
import type { AskedRun, Spec } from './spec.ts';

/** What the policy grants one run. Container options are made from this and from nothing else that was submitted. */
export interface Effective extends Pick<Policy, 'runtime' | 'logs' | 'seccomp' | 'preload'> {
  limits: Limits;
  image: { ref: string; digest: string };
  /** The variables that the job sets. */
  env: Readonly<Record<string, string>>;
  /** Names of the image's own variables that are let through; a star may end a name. */
  imageEnv: readonly string[];
  languages: readonly Language[];
  /** Whether staged files are hashed again for each run, not only when they are fetched. */
  inputs: { verifyEachUse: boolean };
  queue: string;
  priority: number;
  /** Of a session. */
  session?: SessionTerms & { argv: boolean };
  /** The list of what is in the image. */
  packages?: Digest;
}

export type Admission =
  | { admitted: true; effective: Effective; warnings: string[] }
  /** Every reason at once, and the rule behind each. */
  | { admitted: false; reasons: Issue[]; rules: string[] };

type Image = Policy['images'][number];

/** The image as `NAME`, as `NAME@sha256:…` or as the ref that a result shows. Nothing else names one. */
function imageAsked(asked: string | undefined, policy: Policy, refuse: Refuse): Image | undefined {
  if (asked === undefined) return policy.images[0];
  const at = asked.indexOf('@');
  const name = at < 0 ? asked : asked.slice(0, at);
  const image = policy.images.find((i) => i.name === name || i.ref === asked);
  if (!image) refuse('image', 'image', messages.image(policy, asked));
  else if (at >= 0 && asked.slice(at + 1) !== image.digest)
    refuse('image.digest', 'image', messages.imageDigest(policy, name, asked.slice(at + 1), image.digest));
  return image;
}

function imageOfSpec(spec: Spec, policy: Policy, refuse: Refuse): Image | undefined {
  const image = policy.images.find((i) => i.digest === spec.image.digest && i.ref === spec.image.ref);
  if (!image) refuse('spec.image', 'image', messages.specImage(policy, `${spec.image.ref} ${spec.image.digest}`));
  return image;
}

function decide(candidate: Candidate, image: Image | undefined, policy: Policy, refusals: Refusals): Admission {
  const { refuse, rules } = refusals;
  if (policy.approval) refuse('approval', 'policy', messages.approval(policy));
  const session = candidate.session && judgeSession(candidate.session, policy, refuse);
  judgeBlocks(candidate, policy, refuse);
  const limits = judgeLimits(candidate, policy, refuse);
  judgeEnv(candidate, policy, refuse);
  judgeRest(candidate, policy, refuse);
  const { reasons } = refusals;
  if (reasons.length > 0 || !image) return { admitted: false, reasons, rules };
  const effective: Effective = {
    limits,
    image: { ref: image.ref, digest: image.digest },
    runtime: policy.runtime,
    env: { ...candidate.env },
    imageEnv: policy.env.image.filter((name) => !isNeverVariable(name)),
    languages: policy.languages,
    seccomp: policy.seccomp,
    logs: policy.logs,
    inputs: { verifyEachUse: policy.inputs.verifyEachUse },
    queue: queueOf(policy),
    priority: candidate.priority ?? policy.priority.default,
    ...(session && { session: { ...session, argv: policy.argv } }),
    ...(policy.preload && { preload: policy.preload }),
    ...(image.packages && { packages: image.packages }),
  };
  return { admitted: true, effective, warnings: policy.screening ? screen(candidate.blocks, policy.languages) : [] };
}

function judgeSession(asked: AskedTerms, policy: Policy, refuse: Refuse): SessionTerms {
  const { terms, issues } = judgeTerms(asked, policy);
  if (!policy.sessions) refuse('sessions', 'session', messages.noSessions(policy));
  else for (const { path, message } of issues) refuse('sessions.terms', path, message);
  return terms;
}

/** Decides whether a request may become a run. Pure and total: the same four values always give the same answer. */
export function admit(
  request: AskedRun,
  policy: Policy,
  caller: { role: Role },
  inputs: readonly InputFacts[],
): Admission {
  const refusals = new Refusals();
  if (caller.role === 'reader') refusals.refuse('caller', '(caller)', messages.reader);
  const image = imageAsked(request.image, policy, refusals.refuse);
  judgeInputSizes(policy, inputs, refusals.refuse);
  const { files = [], limits = {}, env = {}, labels = {}, inputs: asked = {} } = request;
  const hasWorkspace = request.workspace !== undefined;
  const candidate = { ...request, files, limits, env, labels, inputs: Object.keys(asked), hasWorkspace };
  const admission = decide(candidate, image, policy, refusals);
  if (!admission.admitted) return admission;
  // Not asked of a spec: it protects nothing, and runs that were accepted without it stay right.
  judgeLaidOut(candidate, admission.effective.limits, policy, refusals.refuse);
  const { reasons, rules } = refusals;
  return reasons.length > 0 ? { admitted: false, reasons, rules } : admission;
}

/**
 * The worker's own judgement of a spec, against the pinned policy: an attacker who writes specs past the producer gets
 * no further than a caller of the API.
 */
export function judgeSpec(spec: Spec, policy: Policy): Admission {
  const refusals = new Refusals();
  const { refuse } = refusals;
  if (spec.policy.name !== policy.name) refuse('spec.policy', 'policy', messages.specPolicy(policy, spec.policy.name));
  if (spec.runtime !== policy.runtime) refuse('spec.runtime', 'runtime', messages.specRuntime(policy, spec.runtime));
  if (spec.retention?.mode !== policy.retention?.mode || spec.retention?.days !== policy.retention?.days)
    refuse('spec.retention', 'retention', messages.specRetention(policy));
  if (spec.requester.role === 'reader') refuse('caller', '(caller)', messages.reader);
  // One without its terms would be judged as a run, and a run has blocks.
  if (
    (spec.mode === 'session') !== (spec.session !== undefined) ||
    (spec.blocks.length === 0) !== (spec.mode === 'session')
  )
    refuse('spec.mode', 'mode', messages.specMode);
  const hasWorkspace = spec.workspace !== undefined;
  const candidate = { ...spec, inputs: spec.inputs.map((input) => input.name), hasWorkspace };
  return decide(candidate, imageOfSpec(spec, policy, refuse), policy, refusals);
}

/** The second half of the worker's judgement, once it has read the manifests. */
export function judgeInputs(policy: Policy, inputs: readonly InputFacts[]): Issue[] {
  const refusals = new Refusals();
  judgeInputSizes(policy, inputs, refusals.refuse);
  return refusals.reasons;
}
