import { diffOf } from '@hotcell/contract/snapshot-diff.ts';
import type { Result } from '@hotcell/contract/result.ts';
import type { Json, Spec } from '@hotcell/contract/spec.ts';
import { createTwoFilesPatch, FILE_HEADERS_ONLY } from 'diff';
import type { z } from 'zod';

/** A finished run, and what was asked of it; a refusal has no spec. */
export interface ComparedRun {
  result: Result;
  spec: Spec | undefined;
}

export interface Change {
  what: string;
  before: string | null;
  after: string | null;
}

export interface RunComparison {
  before: string;
  after: string;
  /** What is not code or data: outcome, policy, image, limits, environment. */
  facts: Change[];
  /** A patch for each text that differs; null where it would be too long. */
  code: { name: string; patch: string | null }[];
  params: Change[];
  inputs: Change[];
  outputs: ReturnType<typeof diffOf>;
}

/** What two strangers wrote is compared line by line, up to here: it takes the product of the size and the difference. */
const most = { characters: 512 * 1024, edits: 1_000 } as const;

/** How one run differs from another: a pure function of what the record has of them. */
export function compareRuns(a: ComparedRun, b: ComparedRun): RunComparison {
  return {
    before: a.result.run,
    after: b.result.run,
    facts: changes(factsOf(a), factsOf(b)),
    code: codeOf(a.spec, b.spec),
    params: changes(paramsOf(a.spec?.params), paramsOf(b.spec?.params)),
    inputs: changes(inputsOf(a), inputsOf(b)),
    outputs: diffOf(a.result.outputs.files, b.result.outputs.files),
  };
}

type Facts = ReadonlyMap<string, string | null>;

function changes(before: Facts, after: Facts): Change[] {
  return [...new Set([...before.keys(), ...after.keys()])]
    .map((what) => ({ what, before: before.get(what) ?? null, after: after.get(what) ?? null }))
    .filter((one) => one.before !== one.after);
}

function factsOf({ result, spec }: ComparedRun): Facts {
  const limits = Object.entries(result.limits ?? {}).map(([name, value]) => [`limits.${name}`, String(value)] as const);
  return new Map<string, string | null>([
    ['outcome', result.outcome],
    ['exit code', result.exitCode === null ? null : String(result.exitCode)],
    ['policy', result.policy && `${result.policy.name} ${result.policy.digest}`],
    ['image', result.image && `${result.image.ref} ${result.image.digest}`],
    ['runtime', result.runtime],
    ['environment', spec ? JSON.stringify(spec.env) : null],
    ['log', result.logs.sha256],
    ['workspace at the end', result.workspace?.after ?? null],
    ...limits,
  ]);
}

function paramsOf(params: z.infer<typeof Json> | undefined): Facts {
  if (typeof params !== 'object' || params === null || Array.isArray(params))
    return new Map([['(whole)', params === undefined || params === null ? null : JSON.stringify(params)]]);
  return new Map(Object.entries(params).map(([name, value]) => [name, JSON.stringify(value)]));
}

const inputsOf = ({ result }: ComparedRun): Facts =>
  new Map([
    ...result.inputs.map(({ name, snapshot }) => [name, snapshot] as const),
    ...(result.workspace ? [['/work', result.workspace.before] as const] : []),
  ]);

function textsOf(spec: Spec | undefined): Map<string, string> {
  const blocks = (spec?.blocks ?? []).map((block, index): [string, string] =>
    'argv' in block
      ? [`block ${index}`, `${JSON.stringify(block.argv)}\n`]
      : [`block ${index} (${block.language})`, block.code],
  );
  const files = (spec?.files ?? []).map((file): [string, string] => [
    `file ${file.path}`,
    'text' in file ? file.text : `${file.base64}\n`,
  ]);
  return new Map([...blocks, ...files]);
}

function codeOf(a: Spec | undefined, b: Spec | undefined): RunComparison['code'] {
  const [before, after] = [textsOf(a), textsOf(b)];
  let room: number = most.characters;
  return [...new Set([...before.keys(), ...after.keys()])].flatMap((name) => {
    const [old, now] = [before.get(name) ?? '', after.get(name) ?? ''];
    if (old === now) return [];
    room -= old.length + now.length;
    const options = { context: 3, maxEditLength: most.edits, headerOptions: FILE_HEADERS_ONLY };
    const patch = room < 0 ? undefined : createTwoFilesPatch(name, name, old, now, undefined, undefined, options);
    return [{ name, patch: patch ?? null }];
  });
}
