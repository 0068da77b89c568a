import { findLanguage } from '@hotcell/contract/languages.ts';
import { AskedLimits, isBytes, type LimitName, limitNames, limitTable } from '@hotcell/contract/limits.ts';
import { matches, type Policy } from '@hotcell/contract/policy.ts';
import { exactBytes } from '@hotcell/contract/sizes.ts';
import type { Tried } from './try-test.ts';

/**
 * Tests cover a policy when each rule refuses in one of them, exactly at its edge, and one of them asks for everything
 * that the policy allows. Then no line of the policy can change without a failing test.
 */
interface Duty {
  missing: string;
  met: (tried: Tried) => boolean;
}

type Request = NonNullable<Tried['request']>;

const fired = (rule: string) => (tried: Tried) => tried.rules.includes(rule);
const asks = (rule: string, asked: (request: Request) => boolean, tried: Tried) =>
  tried.request !== undefined &&
  asked(tried.request) &&
  !tried.rules.some((r) => r === rule || r.startsWith(`${rule}.`));

function refuses(rule: string, ask: string, asked: (request: Request) => boolean = () => true): Duty {
  return {
    missing: `rule ${rule}: add a test that asks for ${ask} and is refused`,
    met: (tried) => fired(rule)(tried) && tried.request !== undefined && asked(tried.request),
  };
}

function allows(rule: string, what: string, asked: (request: Request) => boolean): Duty {
  return { missing: `allows ${what}: add a test that asks for it`, met: (tried) => asks(rule, asked, tried) };
}

const show = (name: LimitName, value: number) => (isBytes(name) ? `${value} (${exactBytes(value)})` : String(value));

/** The smallest step beyond an edge: a hundredth for cpus, one for all others. */
function limitDuties(name: LimitName, policy: Policy): Duty[] {
  const { min, max } = policy.limits[name];
  const step = name === 'cpus' ? 0.01 : 1;
  const near = (value: number | undefined, wanted: number) =>
    value !== undefined && Math.abs(value - wanted) < step / 100;
  const asked = (wanted: number) => (request: Request) => near(request.limits?.[name], wanted);
  const sayable = (value: number) => AskedLimits.safeParse({ [name]: value }).success;
  const rule = `limits.${name}`;
  return [
    refuses(`${rule}.max`, show(name, max + step), asked(max + step)),
    allows(rule, `${rule} up to ${show(name, max)}`, asked(max)),
    ...(sayable(min - step) ? [refuses(`${rule}.min`, show(name, min - step), asked(min - step))] : []),
    ...(min > limitTable[name].min ? [allows(rule, `${rule} from ${show(name, min)}`, asked(min))] : []),
  ];
}

/** For each pattern: a name that it lets through and, if a star ends it, the nearest name that it does not. */
function patternDuties(
  rule: string,
  patterns: readonly string[],
  named: (request: Request) => readonly string[],
): Duty[] {
  const open = patterns.includes('*');
  return [
    ...(open ? [] : [refuses(rule, 'one that is not allowed')]),
    ...patterns.map((pattern) =>
      allows(rule, `${rule} ${pattern}`, (request) => named(request).some((name) => matches(pattern, name))),
    ),
    ...patterns
      .filter((pattern) => pattern.endsWith('*') && pattern !== '*' && !open)
      .map((pattern) => {
        const shorter = pattern.slice(0, -2);
        return refuses(rule, `${shorter}… that is not ${pattern}`, (request) =>
          named(request).some((name) => name.startsWith(shorter) && !patterns.some((other) => matches(other, name))),
        );
      }),
  ];
}

function rangeDuties(policy: Policy): Duty[] {
  const { min, max } = policy.priority;
  const priority = (wanted: number) => (request: Request) => request.priority === wanted;
  const retries = (wanted: number) => (request: Request) => request.retry?.max === wanted;
  return [
    ...(min > 0 ? [refuses('priority.min', `priority ${min - 1}`, priority(min - 1))] : []),
    ...(max < 9 ? [refuses('priority.max', `priority ${max + 1}`, priority(max + 1))] : []),
    ...[...new Set([min, max])].map((edge) => allows('priority', `priority ${edge}`, priority(edge))),
    ...(policy.retries < 5 ? [refuses('retries', `${policy.retries + 1} retries`, retries(policy.retries + 1))] : []),
    ...(policy.retries > 0 ? [allows('retries', `${policy.retries} retries`, retries(policy.retries))] : []),
  ];
}

function inputDuties({ inputs }: Policy): Duty[] {
  const counted = (wanted: number) => (request: Request) => Object.keys(request.inputs ?? {}).length === wanted;
  const held = (part: 'bytes' | 'files', wanted: number) => (tried: Tried) => tried.test.inputs?.[part] === wanted;
  const sizes = (['bytes', 'files'] as const).flatMap((part): Duty[] => [
    {
      missing: `rule inputs.${part}: add a test with inputs of ${inputs[part] + 1} ${part} that is refused`,
      met: (tried) => fired(`inputs.${part}`)(tried) && held(part, inputs[part] + 1)(tried),
    },
    {
      missing: `allows inputs of ${inputs[part]} ${part}: add a test with them`,
      met: (tried) => held(part, inputs[part])(tried) && !fired(`inputs.${part}`)(tried),
    },
  ]);
  const count = refuses('inputs.count', `${inputs.count + 1} inputs`, counted(inputs.count + 1));
  if (inputs.count === 0) return [count];
  return [count, allows('inputs.count', `${inputs.count} inputs`, counted(inputs.count)), ...sizes];
}

function codeDuties(policy: Policy): Duty[] {
  const isArgv = (request: Request) => request.blocks.some((block) => 'argv' in block);
  const speaks = (language: Policy['languages'][number]) => (request: Request) =>
    request.blocks.some((block) => 'language' in block && findLanguage([language], block.language) !== undefined);
  return [
    refuses('image', 'an image that is not allowed'),
    ...policy.images.map(({ name }, i) =>
      allows('image', `image ${name}`, (request) => request.image === name || (i === 0 && request.image === undefined)),
    ),
    refuses('language', 'a language that is not allowed'),
    ...policy.languages.map((language) => allows('language', `language ${language.name}`, speaks(language))),
    policy.argv ? allows('argv', 'blocks of argv', isArgv) : refuses('argv', 'a block of argv', isArgv),
  ];
}

/** What only the policy decides, and no request can ask for, must be written in a test. */
function statedDuties(policy: Policy): Duty[] {
  const stated = (what: string, says: (test: Tried['test']) => boolean): Duty => ({
    missing: `add an admitted test that states its ${what}`,
    met: ({ test, admission }) => admission?.admitted === true && says(test),
  });
  const said = ({ admitted }: Tried['test']) => (typeof admitted === 'object' ? admitted : undefined);
  return [
    ...(['image', 'runtime', 'queue', 'priority', 'pastLimit'] as const).map((part) =>
      stated(part, (test) => said(test)?.[part] !== undefined),
    ),
    ...(policy.inputs.verifyEachUse
      ? [stated('verifyEachUse', (test) => said(test)?.verifyEachUse !== undefined)]
      : []),
    ...(policy.env.image.length > 0 ? [stated('imageEnv', (test) => said(test)?.imageEnv !== undefined)] : []),
    ...limitNames.map((name) =>
      stated(
        name === 'blockTimeoutSeconds' ? `default of limits.${name} in the longest run` : `default of limits.${name}`,
        (test) =>
          said(test)?.limits?.[name] !== undefined &&
          test.limits?.[name] === undefined &&
          // No block has more time than its run, so a shorter run would hide it.
          (name !== 'blockTimeoutSeconds' || test.limits?.timeoutSeconds === policy.limits.timeoutSeconds.max),
      ),
    ),
    stated(
      'warnings (of code that has flags)',
      (test) => test.warnings !== undefined && test.request['blocks'] !== undefined,
    ),
  ];
}

/** The rules of a policy that its tests don't cover. */
export function unsaid(policy: Policy, tried: readonly Tried[]): string[] {
  const env = (request: Request) => Object.keys(request.env ?? {});
  const published = (request: Request) => (request.publish === undefined ? [] : [request.publish]);
  const duties: Duty[] = [
    ...codeDuties(policy),
    ...limitNames.flatMap((name) => limitDuties(name, policy)),
    ...inputDuties(policy),
    ...patternDuties('env', policy.env.job, env),
    ...patternDuties('publish', policy.outputs.publish, published),
    ...policy.labels.required.flatMap((name) => [
      refuses(`labels.${name}`, `nothing by the label ${name}`),
      allows(`labels.${name}`, `the label ${name}`, (request) => Object.hasOwn(request.labels ?? {}, name)),
    ]),
    ...rangeDuties(policy),
    // A policy that refuses everything has no admitted test.
    ...(policy.approval ? [refuses('approval', 'a run')] : statedDuties(policy)),
  ];
  return duties.filter((duty) => !tried.some(duty.met)).map((duty) => duty.missing);
}

export function countRules(policy: Policy): number {
  return unsaid(policy, []).length;
}
