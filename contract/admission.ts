import {
  type Ask,
  type InputFacts,
  judgeBlocks,
  judgeEnv,
  judgeInputSizes,
  judgeLimits,
  judgeRest,
  Refusals,
  type Refuse,
} from './admission-rules.ts';
import { words } from './admission-messages.ts';
import { isNeverVariable } from './job-variables.ts';
import type { Issue } from './errors.ts';
import type { Language } from './languages.ts';
import type { Limits } from './limits.ts';
import type { Policy } from './policy.ts';
import { queueOf } from './policy-queue.ts';
import type { Role } from './apikey.ts';
import { screen } from './screening.ts';
import type { RunRequest, Spec } from './spec.ts';

/** The policy's word about one run. Container options are made from this and from nothing else that was submitted. */
export interface Effective {
  limits: Limits;
  image: { ref: string; digest: string };
  runtime: Policy['runtime'];
  /** The variables that the job sets. */
  env: Readonly<Record<string, string>>;
  /** Names, or beginnings of names with a star, of the image's own variables that are let through. */
  imageEnv: readonly string[];
  languages: readonly Language[];
  /** The profiles of the runtime by name, as they were when the policy was pinned: a cell is made with these or not at all. */
  seccomp: Policy['seccomp'];
  logs: Policy['logs'];
  /** Whether staged files are hashed again for every run, not only when they are fetched. */
  inputs: { verifyEachUse: boolean };
  queue: string;
  priority: number;
}

export type Admission =
  | { admitted: true; effective: Effective; warnings: string[] }
  /** Every reason at once; `rules` names the rule behind each. */
  | { admitted: false; reasons: Issue[]; rules: string[] };

export interface Caller {
  tenant: string;
  role: Role;
  key: string;
}

export interface AdmissionFacts {
  inputs: readonly InputFacts[];
}

type Image = Policy['images'][number];

/** `NAME`, or `NAME@sha256:…` by somebody who wants exactly that one, or the ref that a result shows. Nothing else. */
function imageAsked(asked: string | undefined, policy: Policy, refuse: Refuse): Image | undefined {
  if (asked === undefined) return policy.images[0];
  const at = asked.indexOf('@');
  const name = at < 0 ? asked : asked.slice(0, at);
  const image = policy.images.find((i) => i.name === name || i.ref === asked);
  if (!image) refuse('image', 'image', words.image(policy, asked));
  else if (at >= 0 && asked.slice(at + 1) !== image.digest)
    refuse('image.digest', 'image', words.imageDigest(policy, name, asked.slice(at + 1), image.digest));
  return image;
}

function imageOfSpec(spec: Spec, policy: Policy, refuse: Refuse): Image | undefined {
  const image = policy.images.find((i) => i.digest === spec.image.digest && i.ref === spec.image.ref);
  if (!image) refuse('spec.image', 'image', words.specImage(policy, `${spec.image.ref} ${spec.image.digest}`));
  return image;
}

function decide(ask: Ask, image: Image | undefined, policy: Policy, refusals: Refusals): Admission {
  const { refuse, reasons, rules } = refusals;
  if (policy.approval) refuse('approval', 'policy', words.approval(policy));
  judgeBlocks(ask, policy, refuse);
  const limits = judgeLimits(ask, policy, refuse);
  judgeEnv(ask, policy, refuse);
  judgeRest(ask, policy, refuse);
  if (reasons.length > 0 || !image) return { admitted: false, reasons, rules };
  const effective: Effective = {
    limits,
    image: { ref: image.ref, digest: image.digest },
    runtime: policy.runtime,
    env: { ...ask.env },
    imageEnv: policy.env.image.filter((name) => !isNeverVariable(name)),
    languages: policy.languages,
    seccomp: policy.seccomp,
    logs: policy.logs,
    inputs: { verifyEachUse: policy.inputs.verifyEachUse },
    queue: queueOf(policy),
    priority: ask.priority ?? policy.priority.default,
  };
  return { admitted: true, effective, warnings: policy.screening ? screen(ask.blocks, policy.languages) : [] };
}

/** Whether a request may become a run. Pure and total: the same four values always give the same answer. */
export function admit(request: RunRequest, policy: Policy, caller: Caller, facts: AdmissionFacts): Admission {
  const refusals = new Refusals();
  if (caller.role === 'reader') refusals.refuse('caller', '(caller)', words.reader);
  const image = imageAsked(request.image, policy, refusals.refuse);
  judgeInputSizes(policy, facts.inputs, refusals.refuse);
  const ask: Ask = {
    blocks: request.blocks,
    files: request.files ?? [],
    limits: request.limits ?? {},
    env: request.env ?? {},
    labels: request.labels ?? {},
    priority: request.priority,
    publish: request.publish,
    retry: request.retry,
    inputs: Object.keys(request.inputs ?? {}),
  };
  return decide(ask, image, policy, refusals);
}

/**
 * The worker's own judgement, against the pinned text and without believing anything the spec says about its outcome:
 * somebody who writes specs past the producer gets no further than somebody who asks over HTTP.
 */
export function judge(spec: Spec, policy: Policy): Admission {
  const refusals = new Refusals();
  const { refuse } = refusals;
  if (spec.policy.name !== policy.name) refuse('spec.policy', 'policy', words.specPolicy(policy, spec.policy.name));
  if (spec.runtime !== policy.runtime) refuse('spec.runtime', 'runtime', words.specRuntime(policy, spec.runtime));
  if (spec.requester.role === 'reader') refuse('caller', '(caller)', words.reader);
  const ask: Ask = {
    blocks: spec.blocks,
    files: spec.files,
    limits: spec.limits,
    env: spec.env,
    labels: spec.labels,
    priority: spec.priority,
    publish: spec.publish,
    retry: spec.retry,
    inputs: spec.inputs.map((input) => input.name),
  };
  return decide(ask, imageOfSpec(spec, policy, refuse), policy, refusals);
}

/** The worker's second half, once it has read the manifests. */
export function judgeInputs(policy: Policy, inputs: readonly InputFacts[]): Issue[] {
  const refusals = new Refusals();
  judgeInputSizes(policy, inputs, refusals.refuse);
  return refusals.reasons;
}
