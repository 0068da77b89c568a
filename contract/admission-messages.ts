import { exactBytes } from './sizes.ts';
import { type LimitName, showLimit as show } from './limits.ts';
import type { Policy } from './policy.ts';

/** Every sentence that admission can say. Golden tests hold them: a change here is a change people see. */

/** What a submitter typed goes into a message bounded and without control characters. */
function quote(text: string): string {
  const clean = text.replaceAll(/[\p{Cc}\p{Cf}]/gu, '\u{fffd}');
  return `"${clean.length > 80 ? `${clean.slice(0, 80)}…` : clean}"`;
}

function listOf(names: readonly string[]): string {
  return names.length > 0 ? names.join(', ') : 'none';
}

const countOf = (count: number, what: string) => `${count} ${what}${count === 1 ? '' : 's'}`;
const by = (policy: Policy) => `policy ${policy.name} allows`;
const add = (policy: Policy, field: string) => `or have it added to ${field} of policy ${policy.name}`;

export const words = {
  above: (policy: Policy, name: LimitName, asked: number, max: number) =>
    `asked ${show(name, asked)}, ${by(policy)} at most ${show(name, max)}: ask for less, or for a policy that allows more`,
  below: (policy: Policy, name: LimitName, asked: number, min: number) =>
    `asked ${show(name, asked)}, ${by(policy)} no less than ${show(name, min)}: ask for more, or leave it out`,
  blockAboveRun: (asked: number, whole: number) =>
    `asked ${asked} s for a block, and the whole run has ${whole} s: ask for less, or raise limits.timeoutSeconds`,
  image: (policy: Policy, asked: string) =>
    `asked ${quote(asked)}, ${by(policy)} ${listOf(policy.images.map((i) => i.name))}: name one of these (NAME or NAME@sha256:…, no registry, no tag), or build yours with ./hotcell image build and have it added to images of the policy`,
  imageDigest: (policy: Policy, name: string, asked: string, pinned: string) =>
    `asked ${name} as ${quote(asked)}, policy ${policy.name} pins it as ${pinned}: leave the digest out, or name that one`,
  noLanguage: (policy: Policy, asked: string) =>
    `asked ${quote(asked)}, ${by(policy)} ${listOf(policy.languages.map((l) => l.name))}: write the block in one of these, ${add(policy, 'languages')}`,
  argv: (policy: Policy) =>
    `asked for a program by argv, ${by(policy)} blocks of a language only (${listOf(policy.languages.map((l) => l.name))}): write { language, code }, or ask for a policy with argv: true`,
  nul: 'the value contains a NUL character, which no program can be given: remove it',
  envNever: (name: string) =>
    `asked to set ${quote(name)}, which no policy allows: it would change which code is run, or is set by Hotcell; pass a value by params (/inputs/params.json) or in the code`,
  env: (policy: Policy, name: string) =>
    `asked to set ${quote(name)}, ${by(policy)} ${listOf(policy.env.job)}: pass it by params (/inputs/params.json), ${add(policy, 'env.job')}`,
  envCount: (asked: number, max: number) =>
    `asked for ${countOf(asked, 'variable')}, at most ${max} can be set: use params`,
  envBytes: (asked: number, max: number) =>
    `asked for ${exactBytes(asked)} of variables, at most ${exactBytes(max)} can be set: use params or a file`,
  label: (policy: Policy, name: string) =>
    `the label ${name} is missing, and policy ${policy.name} requires it: give it (--label ${name}=…)`,
  priority: (policy: Policy, asked: number) =>
    `asked ${asked}, ${by(policy)} ${policy.priority.min === policy.priority.max ? 'only ' : `${policy.priority.min} to `}${policy.priority.max}: ask for that, or leave it out`,
  publish: (policy: Policy, asked: string) =>
    `asked to publish as ${quote(asked)}, ${by(policy)} ${listOf(policy.outputs.publish)}: name one of these, ${add(policy, 'outputs.publish')}`,
  retries: (policy: Policy, asked: number) =>
    `asked for ${asked === 1 ? '1 retry' : `${asked} retries`}, ${by(policy)} ${policy.retries === 0 ? 'none' : `at most ${policy.retries}`}: ask for fewer, ${add(policy, 'retries')}`,
  noInputs: (policy: Policy, asked: number) =>
    `asked for ${countOf(asked, 'input')}, ${by(policy)} none: leave them out, or ask for a policy with inputs`,
  inputCount: (policy: Policy, asked: number) =>
    `asked for ${countOf(asked, 'input')}, ${by(policy)} at most ${policy.inputs.count}: put more files into fewer snapshots`,
  inputBytes: (policy: Policy, asked: number) =>
    `the inputs have ${exactBytes(asked)} together, ${by(policy)} at most ${exactBytes(policy.inputs.bytes)}: freeze less, or ask for a policy that allows more`,
  inputFiles: (policy: Policy, asked: number) =>
    `the inputs have ${countOf(asked, 'file')} together, ${by(policy)} at most ${policy.inputs.files}: freeze fewer, or ask for a policy that allows more`,
  reader:
    'this key is a reader’s and may not submit runs: use a submitter’s key (./hotcell apikey create --role submitter)',
  approval: (policy: Policy) =>
    `approval_unavailable: policy ${policy.name} asks for ${policy.approval?.count === 1 ? 'an approval' : 'approvals'}, and this version cannot take any yet: ask for a policy without approval`,
  specPolicy: (policy: Policy, asked: string) =>
    `the spec names policy ${quote(asked)}, its digest is that of ${policy.name}: nothing can be run on two words`,
  specRuntime: (policy: Policy, asked: string) =>
    `the spec says ${quote(asked)}, policy ${policy.name} says ${policy.runtime}: submit the run again`,
  specImage: (policy: Policy, asked: string) =>
    `the spec pins ${quote(asked)}, which is no image of policy ${policy.name}: submit the run again`,
} as const;
