import type { Digest } from './digest.ts';
import type { Issue } from './errors.ts';
import type { ImagesLock } from './images-lock.ts';
import { findLanguage, type Language, languages as builtIn } from './languages.ts';
import { forEachLimit, type LimitName, limitTable } from './limits.ts';
import { nearest } from './nearest.ts';
import { issuesOf } from './parse.ts';
import { Policy, type LimitRule } from './policy.ts';
import type { Preload } from './preload.ts';
import type { PolicyRetention } from './retention.ts';
import type { PolicyFile } from './policy-file.ts';

type Plain = Readonly<Record<string, unknown>>;
const isMap = (value: unknown): value is Plain => typeof value === 'object' && value !== null && !Array.isArray(value);

function mergeMaps(base: Plain, more: Plain): Plain {
  const merged: Record<string, unknown> = { ...base };
  for (const [key, value] of Object.entries(more)) {
    const below = merged[key];
    if (value !== undefined) merged[key] = isMap(below) && isMap(value) ? mergeMaps(below, value) : value;
  }
  return merged;
}

/** The one rule of merging: later values replace earlier ones, maps merge key by key, lists are replaced whole. */
export function mergePolicies(base: PolicyFile, more: PolicyFile): PolicyFile {
  return mergeMaps(base, more);
}

const kib = 1024;
const mib = 1024 * kib;
const exactly = (value: number) => ({ default: value, max: value });

/** The base of every policy, and the meaning of an empty one: it allows nothing but printing. */
export const ground: PolicyFile = {
  description: '',
  network: 'none',
  runtime: 'runc',
  images: ['python'],
  languages: ['python'],
  argv: false,
  limits: {
    timeoutSeconds: exactly(10),
    graceSeconds: exactly(1),
    memoryBytes: exactly(128 * mib),
    cpus: exactly(0.5),
    pids: exactly(32),
    openFiles: exactly(256),
    logBytes: exactly(64 * kib),
    outputBytes: exactly(0),
    outputFiles: exactly(0),
    scratchBytes: exactly(8 * mib),
    scratchInodes: exactly(256),
  },
  inputs: { count: 0, bytes: 0, files: 0, verifyEachUse: false },
  outputs: { publish: [] },
  logs: { pastLimit: 'truncate' },
  env: { job: [], image: [] },
  labels: { required: [] },
  priority: { min: 5, default: 5, max: 5 },
  retries: 0,
  screening: true,
  worker: { labels: [] },
};

/** What the names in a policy mean here: built images, the profiles that this version ships, the machine's size. */
export interface PolicyContext {
  images: ImagesLock;
  /** By runtime and architecture: `runc-x86_64`. */
  seccomp: Readonly<Record<string, Digest>>;
  /** By name. */
  preloads: Readonly<Record<string, Digest>>;
  machine: { cpus: number; memoryBytes: number };
}

type LimitInFile = NonNullable<NonNullable<PolicyFile['limits']>[LimitName]>;

function resolveLimit(name: LimitName, inFile: LimitInFile, machine: PolicyContext['machine']): LimitRule {
  const { fitMachine, ...rule } = inFile;
  const { min: floor } = limitTable[name];
  const whole = {
    min: rule.min ?? floor,
    default: rule.default ?? rule.max ?? floor,
    max: rule.max ?? rule.default ?? floor,
  };
  if (!fitMachine) return whole;
  const atMost = (has: number) => Math.max(Math.min(whole.max, has), whole.min);
  if (name === 'memoryBytes') {
    const max = atMost(Math.floor((machine.memoryBytes * 0.75) / mib) * mib);
    return { ...whole, max, default: Math.min(whole.default, max) };
  }
  // A run that asks for nothing leaves half of the machine to others.
  return { ...whole, max: atMost(machine.cpus), default: Math.min(whole.default, atMost(machine.cpus / 2)) };
}

/** Where a policy omits them, two limits follow from others: a block may take the run's time and fill all its space. */
function resolveLimits(inFile: NonNullable<PolicyFile['limits']>, machine: PolicyContext['machine']) {
  const rule = (name: LimitName) => resolveLimit(name, inFile[name] ?? {}, machine);
  const timeout = rule('timeoutSeconds');
  const room = Math.max(rule('outputBytes').max, rule('scratchBytes').max);
  const silent: Partial<Record<LimitName, LimitRule>> = {
    blockTimeoutSeconds: { ...timeout, default: timeout.max },
    fileBytes: { min: limitTable.fileBytes.min, default: room, max: room },
  };
  return forEachLimit((name) => (!inFile[name] && silent[name]) || rule(name));
}

function resolveImages(names: readonly string[], lock: ImagesLock, issues: Issue[]) {
  // Images of services are built too, but never make a cell.
  const built = Object.keys(lock).filter((name) => lock[name]?.kind === 'cell');
  return names.flatMap((name, i) => {
    const image = lock[name];
    if (image?.kind === 'cell')
      return [{ name, ref: image.ref, digest: image.digest, ...(image.packages && { packages: image.packages }) }];
    const near = nearest(name, built);
    issues.push({
      path: `images[${i}]`,
      message: `This installation has no image "${name}". ${near ? `Did you mean "${near}"? ` : ''}${
        built.length > 0 ? `Built: ${built.join(', ')}.` : 'No image is built yet.'
      } Build it, or remove it here.`,
    });
    return [];
  });
}

function resolveLanguages(entries: NonNullable<PolicyFile['languages']>, issues: Issue[]): Language[] {
  const found: Language[] = [];
  for (const [i, entry] of entries.entries()) {
    const path = `languages[${i}]`;
    if (typeof entry === 'string') {
      const language = findLanguage(builtIn, entry);
      // Two names of one language (python and py) are one language.
      if (!language) issues.push({ path, message: noLanguage(entry) });
      else if (!found.includes(language)) found.push(language);
      continue;
    }
    const taken = [entry.name, ...entry.aliases].find((word) => findLanguage(found, word));
    if (taken) issues.push({ path, message: `"${taken}" already names another language. Choose another name.` });
    else found.push(entry);
  }
  return found;
}

/** Days alone ask for a lock of a kind that is not said, and a lock without days would end at once. */
function resolveRetention(
  { mode, days, after }: NonNullable<PolicyFile['retention']>,
  issues: Issue[],
): PolicyRetention | undefined {
  if (mode === 'none' || (mode === undefined && days === undefined)) {
    if (after === 'erase')
      issues.push({
        path: 'retention.after',
        message: 'needs a mode and days, after which runs are erased. Write both.',
      });
    return undefined;
  }
  if (mode === undefined)
    issues.push({
      path: 'retention.mode',
      message: 'is missing. Write governance or compliance, or none for no lock.',
    });
  else if (days === undefined)
    issues.push({
      path: 'retention.days',
      message: `is missing. Write for how many days ${mode} locks what a run leaves.`,
    });
  else return { mode, days, ...(after === 'erase' && { after }) };
  return undefined;
}

function resolvePreload(name: string, known: PolicyContext['preloads'], issues: Issue[]): Preload | undefined {
  if (name === 'none') return undefined;
  const digest = known[name];
  if (digest) return { name, digest };
  issues.push({
    path: 'preload',
    message: `Unknown preload "${name}". Known: none, ${Object.keys(known).join(', ')}.`,
  });
  return undefined;
}

function noLanguage(name: string): string {
  const known = builtIn.map((language) => language.name);
  const near = nearest(name, known);
  return `Unknown language "${name}". ${near ? `Did you mean "${near}"? ` : ''}Known: ${known.join(', ')}. Define another one as { name, aliases, command, ending }.`;
}

/** Resolves a merged file to a policy of this installation, or lists everything that is wrong with it. */
export function resolvePolicy(
  name: string,
  file: PolicyFile,
  here: PolicyContext,
): { policy: Policy } | { issues: Issue[] } {
  const { extends: _base, retention: asked, sessions, preload: named, ...merged } = mergePolicies(ground, file);
  const issues: Issue[] = [];
  const retention = resolveRetention(asked ?? {}, issues);
  const preload = resolvePreload(named ?? 'none', here.preloads, issues);
  const whole = {
    ...merged,
    ...(retention && { retention }),
    ...(sessions !== undefined && sessions !== 'none' && { sessions }),
    ...(preload && { preload }),
    version: 1,
    name,
    images: resolveImages(merged.images ?? [], here.images, issues),
    languages: resolveLanguages(merged.languages ?? [], issues),
    limits: resolveLimits(merged.limits ?? {}, here.machine),
    seccomp: Object.fromEntries(
      Object.entries(here.seccomp).filter(([profile]) => profile.startsWith(`${merged.runtime}-`)),
    ),
  };
  if (issues.length > 0) return { issues };
  const parsed = Policy.safeParse(whole);
  return parsed.success ? { policy: parsed.data } : { issues: issuesOf(parsed.error) };
}
