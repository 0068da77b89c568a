import { counted } from './format.ts';
import { type LimitName, type Limits, showLimit } from './limits.ts';
import type { Policy } from './policy.ts';
import { exactBytes } from './sizes.ts';

/** A submitter's text in a message: bounded, and without control characters. */
function quote(text: string): string {
  const clean = text.replaceAll(/[\p{Cc}\p{Cf}]/gu, '\u{fffd}');
  return `"${clean.length > 80 ? `${clean.slice(0, 80)}…` : clean}"`;
}

const listOf = (names: readonly string[]) => (names.length > 0 ? names.join(', ') : 'none');
const namesOf = (things: readonly { name: string }[]) => listOf(things.map(({ name }) => name));
const addTo = (field: string) => `or ask the operator to add it to ${field} of the policy`;

/** Every sentence that admission says. Golden tests hold them: people and scripts see each change. */
export const messages = {
  above: ({ name }: Policy, limit: LimitName, asked: number, max: number) =>
    `${showLimit(limit, asked)} is more than policy ${name} allows (at most ${showLimit(limit, max)}). Ask for less, or use a policy that allows more.`,
  below: ({ name }: Policy, limit: LimitName, asked: number, min: number) =>
    `${showLimit(limit, asked)} is less than policy ${name} allows (at least ${showLimit(limit, min)}). Ask for more, or omit it.`,
  blockAboveRun: (asked: number, whole: number) =>
    `A block can't have more time (${asked} s) than the whole run (${whole} s). Ask for less, or raise limits.timeoutSeconds.`,
  laidOut: (policy: Policy, limit: 'scratchBytes' | 'scratchInodes', needed: number, limits: Limits) => {
    const unit = limit === 'scratchInodes' ? ' files' : '';
    return `The bundled files and the code don't fit into /work: with their folders, and in whole pages, they take ${showLimit(limit, needed)}${unit}, and the run has ${showLimit(limit, limits[limit])}. Ask for more (policy ${policy.name} allows at most ${showLimit(limit, policy.limits[limit].max)}), or freeze the files as a snapshot and use it as an input.`;
  },
  image: ({ name, images }: Policy, asked: string) =>
    `Policy ${name} doesn't allow the image ${quote(asked)}. It allows: ${namesOf(images)}. Name one of these, as NAME or NAME@sha256:… without registry or tag, ${addTo('images')}.`,
  imageDigest: (policy: Policy, name: string, asked: string, pinned: string) =>
    `Policy ${policy.name} pins the image ${name} as ${pinned}, not ${quote(asked)}. Omit the digest, or use the pinned one.`,
  noLanguage: ({ name, languages }: Policy, asked: string) =>
    `Policy ${name} doesn't allow the language ${quote(asked)}. It allows: ${namesOf(languages)}. Use one of these, ${addTo('languages')}.`,
  argv: ({ name, languages }: Policy) =>
    `Policy ${name} doesn't allow programs by argv. Write a block { language, code } in one of: ${namesOf(languages)}.`,
  noSessions: ({ name }: Policy) =>
    `Policy ${name} allows no sessions. Submit runs, use a policy with a section "sessions", or ask the operator to add one.`,
  specMode: 'The spec is half a session: its mode, its terms and its blocks do not fit each other. Submit it again.',
  nul: 'The value contains a NUL character, which no program can receive. Remove it.',
  envNever: (name: string) =>
    `No policy lets a job set ${quote(name)}: it would change which code runs, or Hotcell sets it. Pass the value in params (/inputs/params.json).`,
  env: (policy: Policy, name: string) =>
    `Policy ${policy.name} doesn't let a job set ${quote(name)}. It allows: ${listOf(policy.env.job)}. Pass the value in params (/inputs/params.json), ${addTo('env.job')}.`,
  envCount: (asked: number, max: number) => `A run can set at most ${max} variables, not ${asked}. Use params.`,
  envBytes: (asked: number, max: number) =>
    `The variables take ${exactBytes(asked)}; a run can set at most ${exactBytes(max)}. Use params or a file.`,
  label: (policy: Policy, name: string) =>
    `Policy ${policy.name} requires this label. Add it (command line: --label ${name}=…).`,
  priority: ({ name, priority: { min, max } }: Policy, asked: number) =>
    `Policy ${name} allows ${min === max ? `only priority ${max}` : `priorities ${min} to ${max}`}, not ${asked}. Choose another one, or omit it.`,
  publish: ({ name, outputs }: Policy, asked: string) =>
    `Policy ${name} doesn't allow publishing as ${quote(asked)}. It allows: ${listOf(outputs.publish)}. Choose another name, ${addTo('outputs.publish')}.`,
  noWorkspace: 'The run has no workspace that could be named. Name one under workspace, or remove workspacePublish.',
  twoNamed: (name: string) =>
    `The outputs and the workspace can't both be published as ${quote(name)}. Choose another name for one of them.`,
  retries: ({ name, retries }: Policy, asked: number) =>
    retries === 0
      ? `Policy ${name} allows no retries. Remove retry.`
      : `Policy ${name} allows at most ${counted(retries, 'retry', 'retries')}, not ${asked}. Ask for fewer.`,
  noInputs: ({ name }: Policy) => `Policy ${name} allows no inputs. Remove them, or use a policy that allows inputs.`,
  noWorkspaces: ({ name }: Policy) =>
    `Policy ${name} allows no inputs, and a workspace counts as one. Remove it, or use a policy that allows inputs.`,
  inputCount: ({ name, inputs }: Policy, asked: number) =>
    `Policy ${name} allows at most ${counted(inputs.count, 'input')}, not ${asked}. Combine the files into fewer snapshots.`,
  inputBytes: ({ name, inputs }: Policy, asked: number) =>
    `The inputs total ${exactBytes(asked)}; policy ${name} allows at most ${exactBytes(inputs.bytes)}. Use smaller inputs, or a policy that allows more.`,
  inputFiles: ({ name, inputs }: Policy, asked: number) =>
    `The inputs total ${counted(asked, 'file')}; policy ${name} allows at most ${inputs.files}. Use fewer files, or a policy that allows more.`,
  more: (rest: number) =>
    `${counted(rest, 'more reason', 'more reasons')}. Correct these first, then submit again to see the rest.`,
  reader: "Permission denied: a reader key can't submit runs.",
  approval: ({ name }: Policy) =>
    `approval_unavailable: policy ${name} requires an approval, and this version can't take approvals yet. Use another policy.`,
  specPolicy: (policy: Policy, asked: string) =>
    `The spec names policy ${quote(asked)}, but its digest is that of policy ${policy.name}. Submit the run again.`,
  specRuntime: ({ name, runtime }: Policy, asked: string) =>
    `The spec names the runtime ${quote(asked)}, but policy ${name} uses ${runtime}. Submit the run again.`,
  specRetention: ({ name }: Policy) => `The spec asks for another retention than policy ${name}. Submit the run again.`,
  specImage: ({ name }: Policy, asked: string) =>
    `The spec pins the image ${quote(asked)}, which policy ${name} doesn't allow. Submit the run again.`,
} as const;
