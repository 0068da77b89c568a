import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { Digest } from '@hotcell/contract/digest.ts';
import { messageOf } from '@hotcell/contract/errors.ts';
import { PolicyName } from '@hotcell/contract/names.ts';
import { nearest } from '@hotcell/contract/nearest.ts';
import { showIssue } from '@hotcell/contract/parse.ts';
import { type Policy, policyDigest } from '@hotcell/contract/policy.ts';
import { type PolicyFile, parsePolicyFile } from '@hotcell/contract/policy-file.ts';
import { type PolicyContext, mergePolicies, resolvePolicy } from '@hotcell/contract/policy-merge.ts';
import { type PlacedProblem, problemAt, readYaml, wholeFile, type Yaml } from './yaml.ts';

export interface LoadedPolicy {
  policy: Policy;
  digest: Digest;
  file: string;
}

/** The policies of a folder. One with a problem is missing; the others are usable. */
export interface Folder {
  policies: ReadonlyMap<string, LoadedPolicy>;
  problems: ReadonlyMap<string, readonly PlacedProblem[]>;
}

/** A file that was read and parsed, and not yet merged with the policies that it extends. */
interface ParsedPolicy {
  name: string;
  file: string;
  content: PolicyFile;
  yaml: Yaml;
}

function readPolicy(name: string, file: string, text: string): ParsedPolicy | { problems: PlacedProblem[] } {
  const yaml = readYaml(text, file);
  if ('problems' in yaml) return yaml;
  const parsed = parsePolicyFile(name, yaml.value);
  if ('policyFile' in parsed) return { name, file, content: parsed.policyFile, yaml };
  return {
    problems: parsed.issues.map((issue) => problemAt(file, yaml, issue.at, showIssue(issue))),
  };
}

const mostExtends = 8;

/** A policy and all that it extends, itself first. */
function chainOf(
  leaf: ParsedPolicy,
  read: ReadonlyMap<string, ParsedPolicy>,
  broken: ReadonlySet<string>,
): ParsedPolicy[] | { problems: PlacedProblem[] } {
  const chain = [leaf];
  const fail = (link: ParsedPolicy, message: string) => ({
    problems: [problemAt(link.file, link.yaml, ['extends'], message)],
  });
  for (let at = leaf; at.content.extends !== undefined; ) {
    const base = at.content.extends;
    const names = [...chain.map((link) => link.name), base];
    if (chain.some((link) => link.name === base))
      return fail(at, `extends: ${names.join(' → ')} is a circle. Remove one of these lines.`);
    if (chain.length >= mostExtends)
      return fail(at, `extends: ${names.join(' → ')} is more than ${mostExtends} policies deep. Make it flatter.`);
    if (broken.has(base)) return fail(at, `extends: policy ${base} has a problem. Fix that first.`);
    const next = read.get(base);
    if (!next) {
      const near = nearest(base, [...read.keys()]);
      return fail(
        at,
        `extends: Policy not found: ${base}. ${near ? `Did you mean ${near}? ` : ''}Policies: ${[...read.keys()].join(', ')}.`,
      );
    }
    chain.push(next);
    at = next;
  }
  return chain;
}

/** The file to blame: the first of the chain in which the place exists. */
function blame(chain: readonly ParsedPolicy[], path: string): PlacedProblem | undefined {
  const steps = [...path.matchAll(/[^.[\]]+/g)].map(([step]) => (/^\d+$/.test(step) ? Number(step) : step));
  for (let length = steps.length; length > 0; length--)
    for (const link of chain) {
      const { line, column, exact } = link.yaml.placeOf(steps.slice(0, length));
      if (exact) return { file: link.file, line, column, message: '' };
    }
  return undefined;
}

function resolveChain(
  chain: readonly ParsedPolicy[],
  here: PolicyContext,
): LoadedPolicy | { problems: PlacedProblem[] } {
  const [leaf] = chain as [ParsedPolicy];
  const merged = chain.map((link) => link.content).reduceRight((base, more) => mergePolicies(base, more));
  const resolved = resolvePolicy(leaf.name, merged, here);
  if ('policy' in resolved) return { policy: resolved.policy, digest: policyDigest(resolved.policy), file: leaf.file };
  const whole = wholeFile(leaf.file, '');
  return {
    problems: resolved.issues.map((issue) => ({ ...(blame(chain, issue.path) ?? whole), message: showIssue(issue) })),
  };
}

/** The policies in a set of texts, by name. Pure, for folders, tests and single files. */
export function loadTexts(texts: ReadonlyMap<string, { file: string; text: string }>, here: PolicyContext): Folder {
  const read = new Map<string, ParsedPolicy>();
  const problems = new Map<string, readonly PlacedProblem[]>();
  for (const [name, { file, text }] of texts) {
    const one = readPolicy(name, file, text);
    if ('problems' in one) problems.set(name, one.problems);
    else read.set(name, one);
  }
  const broken = new Set(problems.keys());
  const policies = new Map<string, LoadedPolicy>();
  for (const leaf of read.values()) {
    const chain = chainOf(leaf, read, broken);
    const loaded = 'problems' in chain ? chain : resolveChain(chain, here);
    if ('problems' in loaded) problems.set(leaf.name, loaded.problems);
    else policies.set(leaf.name, loaded);
  }
  return { policies, problems };
}

/** `policies/*.yaml`, each named by its file. */
export function readTexts(folder: string): Map<string, { file: string; text: string }> {
  const texts = new Map<string, { file: string; text: string }>();
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    if (!entry.isFile() || !/\.ya?ml$/.test(entry.name)) continue;
    const file = join(folder, entry.name);
    texts.set(basename(entry.name).replace(/\.ya?ml$/, ''), { file, text: readFileSync(file, 'utf8') });
  }
  return new Map([...texts].toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

export function loadFolder(folder: string, here: PolicyContext): Folder {
  let texts: ReturnType<typeof readTexts>;
  try {
    texts = readTexts(folder);
  } catch (error) {
    const message = `Failed to read the folder of policies: ${messageOf(error)}`;
    return { policies: new Map(), problems: new Map([['(folder)', [wholeFile(folder, message)]]]) };
  }
  const loaded = loadTexts(texts, here);
  const misnamed = [...texts].filter(([name]) => !PolicyName.safeParse(name).success);
  if (misnamed.length === 0) return loaded;
  const problems = new Map(loaded.problems);
  const policies = new Map(loaded.policies);
  for (const [name, { file }] of misnamed) {
    const message = 'A policy is named by its file: 1 to 63 of a-z, 0-9 and -. Rename the file.';
    problems.set(name, [wholeFile(file, message)]);
    policies.delete(name);
  }
  return { policies, problems };
}
