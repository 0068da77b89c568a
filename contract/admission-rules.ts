import { messages } from './admission-messages.ts';
import { resolveBlocks } from './blocks.ts';
import { isNeverVariable } from './job-variables.ts';
import type { Issue } from './errors.ts';
import { findLanguage } from './languages.ts';
import { forEachLimit, type Limits } from './limits.ts';
import { ceilings } from './request-ceilings.ts';
import { matches, type Policy } from './policy.ts';
import { type AskedTerms, limitsOfSession } from './session/session-terms.ts';
import type { Spec } from './spec.ts';

/** A run that is judged, from a request or from a spec. An undefined field was not asked for. */
export type Candidate = Pick<Spec, 'blocks' | 'files' | 'limits' | 'env' | 'labels' | 'publish' | 'retry'> & {
  session?: AskedTerms | undefined;
  priority?: number | undefined;
  inputs: readonly string[];
  /** Whether it has one: it counts as an input. */
  hasWorkspace: boolean;
  workspacePublish?: string | undefined;
};

export interface InputFacts {
  name: string;
  bytes: number;
  files: number;
}

/** Records a refusal: the rule behind it, the place in the request, and the whole sentence. */
export type Refuse = (rule: string, path: string, message: string) => void;

const mostReasons = 100;

export class Refusals {
  readonly #all: Issue[] = [];
  readonly rules: string[] = [];
  readonly refuse: Refuse = (rule, path, message) => {
    this.rules.push(rule);
    this.#all.push({ path, message });
  };

  /** The first of them, and how many there are beside: a refusal is kept, and its submitter chooses its length. */
  get reasons(): Issue[] {
    const rest = this.#all.length - mostReasons;
    if (rest <= 0) return [...this.#all];
    return [...this.#all.slice(0, mostReasons), { path: '(more)', message: messages.more(rest) }];
  }
}

const ofLanguage = /^blocks\[\d+\]\.language$/;

export function judgeBlocks(candidate: Candidate, policy: Policy, refuse: Refuse): void {
  for (const [i, block] of candidate.blocks.entries()) {
    if ('argv' in block) {
      if (!policy.argv) refuse('argv', `blocks[${i}].argv`, messages.argv(policy));
    } else if (!findLanguage(policy.languages, block.language))
      refuse('language', `blocks[${i}].language`, messages.noLanguage(policy, block.language));
  }
  for (const { path, message } of resolveBlocks(candidate.blocks, candidate.files, policy.languages).issues)
    if (!ofLanguage.test(path)) refuse('blocks', path, message);
}

/** The effective limits: each as asked, or the policy's default. A value out of range is refused, never clamped. */
export function judgeLimits(candidate: Candidate, policy: Policy, refuse: Refuse): Limits {
  const { sessions } = policy;
  const rules = candidate.session && sessions ? limitsOfSession(policy.limits, sessions) : policy.limits;
  const limits: Limits = forEachLimit((name) => {
    const rule = rules[name];
    const asked = candidate.limits[name];
    if (asked !== undefined && !(asked <= rule.max))
      refuse(`limits.${name}.max`, `limits.${name}`, messages.above(policy, name, asked, rule.max));
    else if (asked !== undefined && !(asked >= rule.min))
      refuse(`limits.${name}.min`, `limits.${name}`, messages.below(policy, name, asked, rule.min));
    return asked ?? rule.default;
  });
  const whole = limits.timeoutSeconds;
  const block = candidate.limits.blockTimeoutSeconds;
  if (block === undefined) limits.blockTimeoutSeconds = Math.min(limits.blockTimeoutSeconds, whole);
  else if (block > whole && block <= rules.blockTimeoutSeconds.max)
    refuse('limits.blockTimeoutSeconds.run', 'limits.blockTimeoutSeconds', messages.blockAboveRun(block, whole));
  return limits;
}

export function judgeEnv(candidate: Candidate, policy: Policy, refuse: Refuse): void {
  const entries = Object.entries(candidate.env);
  let bytes = 0;
  for (const [name, value] of entries) {
    const path = `env.${name}`;
    bytes += Buffer.byteLength(name) + Buffer.byteLength(value) + 2;
    if (isNeverVariable(name)) refuse('env.never', path, messages.envNever(name));
    else if (!policy.env.job.some((pattern) => matches(pattern, name))) refuse('env', path, messages.env(policy, name));
    if (value.includes('\0')) refuse('nul', path, messages.nul);
  }
  if (entries.length > ceilings.variables.most)
    refuse('env.count', 'env', messages.envCount(entries.length, ceilings.variables.most));
  if (bytes > ceilings.env.most) refuse('env.bytes', 'env', messages.envBytes(bytes, ceilings.env.most));
}

export function judgeRest(candidate: Candidate, policy: Policy, refuse: Refuse): void {
  for (const name of policy.labels.required)
    if (!Object.hasOwn(candidate.labels, name))
      refuse(`labels.${name}`, `labels.${name}`, messages.label(policy, name));
  const priority = candidate.priority;
  if (priority !== undefined && !(priority >= policy.priority.min && priority <= policy.priority.max))
    refuse(
      priority < policy.priority.min ? 'priority.min' : 'priority.max',
      'priority',
      messages.priority(policy, priority),
    );
  const { publish, retry } = candidate;
  if (publish !== undefined && !policy.outputs.publish.some((pattern) => matches(pattern, publish)))
    refuse('publish', 'publish', messages.publish(policy, publish));
  if (retry && retry.max > policy.retries) refuse('retries', 'retry.max', messages.retries(policy, retry.max));
  judgeNamed(candidate, policy, refuse);
  const { inputs, hasWorkspace } = candidate;
  const count = inputs.length + Number(hasWorkspace);
  const onlyWorkspace = hasWorkspace && inputs.length === 0;
  if (count > policy.inputs.count)
    refuse(
      'inputs.count',
      onlyWorkspace ? 'workspace' : 'inputs',
      policy.inputs.count > 0
        ? messages.inputCount(policy, count)
        : onlyWorkspace
          ? messages.noWorkspaces(policy)
          : messages.noInputs(policy),
    );
}

/** A name that the workspace is to have at the end. */
function judgeNamed(candidate: Candidate, policy: Policy, refuse: Refuse): void {
  const { workspacePublish: name, hasWorkspace, publish } = candidate;
  if (name === undefined) return;
  if (!hasWorkspace) refuse('workspace.publish', 'workspacePublish', messages.noWorkspace);
  else if (name === publish) refuse('workspace.publish', 'workspacePublish', messages.twoNamed(name));
  else if (!policy.outputs.publish.some((pattern) => matches(pattern, name)))
    refuse('publish', 'workspacePublish', messages.publish(policy, name));
}

/** The sizes of the inputs are known once their manifests are read. */
export function judgeInputSizes(policy: Policy, inputs: readonly InputFacts[], refuse: Refuse): void {
  // A policy without inputs has refused them already, with one reason.
  if (policy.inputs.count === 0) return;
  const bytes = inputs.reduce((sum, input) => sum + input.bytes, 0);
  const files = inputs.reduce((sum, input) => sum + input.files, 0);
  if (bytes > policy.inputs.bytes) refuse('inputs.bytes', 'inputs', messages.inputBytes(policy, bytes));
  if (files > policy.inputs.files) refuse('inputs.files', 'inputs', messages.inputFiles(policy, files));
}
