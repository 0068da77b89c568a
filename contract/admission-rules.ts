import { words } from './admission-messages.ts';
import { resolveBlocks } from './blocks.ts';
import { envCeiling, isNeverVariable } from './job-variables.ts';
import type { Issue } from './errors.ts';
import { findLanguage } from './languages.ts';
import { type AskedLimits, type LimitName, limitNames, type Limits } from './limits.ts';
import { matches, type Policy } from './policy.ts';
import type { Block, BundledFile, RunRequest } from './spec.ts';

/** What is judged, whether it comes from a request or from a spec. Everything optional was not asked for. */
export interface Ask {
  blocks: readonly Block[];
  files: readonly BundledFile[];
  limits: AskedLimits;
  env: Readonly<Record<string, string>>;
  labels: Readonly<Record<string, string>>;
  priority: number | undefined;
  publish: string | undefined;
  retry: RunRequest['retry'];
  inputs: readonly string[];
}

export interface InputFacts {
  name: string;
  bytes: number;
  files: number;
}

/** Says no: which rule, where in the request, and the whole sentence. */
export type Refuse = (rule: string, path: string, message: string) => void;

export class Refusals {
  readonly reasons: Issue[] = [];
  readonly rules: string[] = [];
  readonly refuse: Refuse = (rule, path, message) => {
    this.rules.push(rule);
    this.reasons.push({ path, message });
  };
}

const ofLanguage = /^blocks\[\d+\]\.language$/;

export function judgeBlocks(ask: Ask, policy: Policy, refuse: Refuse): void {
  for (const [i, block] of ask.blocks.entries()) {
    if ('argv' in block) {
      if (!policy.argv) refuse('argv', `blocks[${i}].argv`, words.argv(policy));
    } else if (!findLanguage(policy.languages, block.language))
      refuse('language', `blocks[${i}].language`, words.noLanguage(policy, block.language));
  }
  for (const { path, message } of resolveBlocks(ask.blocks, ask.files, policy.languages).issues)
    if (!ofLanguage.test(path)) refuse('blocks', path, message);
}

/** The effective limits: what was asked, or the policy's default. What is out of range is refused, never clamped. */
export function judgeLimits(ask: Ask, policy: Policy, refuse: Refuse): Limits {
  const limits = {} as Record<LimitName, number>;
  for (const name of limitNames) {
    const rule = policy.limits[name];
    const asked = ask.limits[name];
    if (asked !== undefined && !(asked <= rule.max))
      refuse(`limits.${name}.max`, `limits.${name}`, words.above(policy, name, asked, rule.max));
    else if (asked !== undefined && !(asked >= rule.min))
      refuse(`limits.${name}.min`, `limits.${name}`, words.below(policy, name, asked, rule.min));
    limits[name] = asked ?? rule.default;
  }
  const whole = limits.timeoutSeconds;
  const block = ask.limits.blockTimeoutSeconds;
  if (block === undefined) limits.blockTimeoutSeconds = Math.min(limits.blockTimeoutSeconds, whole);
  else if (block > whole && block <= policy.limits.blockTimeoutSeconds.max)
    refuse('limits.blockTimeoutSeconds.run', 'limits.blockTimeoutSeconds', words.blockAboveRun(block, whole));
  return limits;
}

export function judgeEnv(ask: Ask, policy: Policy, refuse: Refuse): void {
  const entries = Object.entries(ask.env);
  let bytes = 0;
  for (const [name, value] of entries) {
    const path = `env.${name}`;
    bytes += Buffer.byteLength(name) + Buffer.byteLength(value) + 2;
    if (isNeverVariable(name)) refuse('env.never', path, words.envNever(name));
    else if (!policy.env.job.some((pattern) => matches(pattern, name))) refuse('env', path, words.env(policy, name));
    if (value.includes('\0')) refuse('nul', path, words.nul);
  }
  if (entries.length > envCeiling.variables)
    refuse('env.count', 'env', words.envCount(entries.length, envCeiling.variables));
  if (bytes > envCeiling.bytes) refuse('env.bytes', 'env', words.envBytes(bytes, envCeiling.bytes));
}

export function judgeRest(ask: Ask, policy: Policy, refuse: Refuse): void {
  for (const name of policy.labels.required)
    if (!Object.hasOwn(ask.labels, name)) refuse(`labels.${name}`, `labels.${name}`, words.label(policy, name));
  const priority = ask.priority;
  if (priority !== undefined && !(priority >= policy.priority.min && priority <= policy.priority.max))
    refuse(
      priority < policy.priority.min ? 'priority.min' : 'priority.max',
      'priority',
      words.priority(policy, priority),
    );
  const { publish, retry } = ask;
  if (publish !== undefined && !policy.outputs.publish.some((pattern) => matches(pattern, publish)))
    refuse('publish', 'publish', words.publish(policy, publish));
  if (retry && retry.max > policy.retries) refuse('retries', 'retry.max', words.retries(policy, retry.max));
  const count = ask.inputs.length;
  if (count > policy.inputs.count)
    refuse(
      'inputs.count',
      'inputs',
      policy.inputs.count === 0 ? words.noInputs(policy, count) : words.inputCount(policy, count),
    );
}

/** How much the inputs hold is known once their manifests are read. */
export function judgeInputSizes(policy: Policy, inputs: readonly InputFacts[], refuse: Refuse): void {
  // Where there may be none at all, the one reason that says so is enough.
  if (policy.inputs.count === 0) return;
  const bytes = inputs.reduce((sum, input) => sum + input.bytes, 0);
  const files = inputs.reduce((sum, input) => sum + input.files, 0);
  if (bytes > policy.inputs.bytes) refuse('inputs.bytes', 'inputs', words.inputBytes(policy, bytes));
  if (files > policy.inputs.files) refuse('inputs.files', 'inputs', words.inputFiles(policy, files));
}
