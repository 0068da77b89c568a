import type { Effective } from '../admission.ts';
import { cellMemory, cellPids, cpuQuotaUs } from '../cell-bounds.ts';
import { initCapabilities, initPath, mountFiles } from '../cell-shape.ts';
import { hexOf, sha256 } from '../digest.ts';
import { fixedVariables, jobVariables, threadVariables } from '../job-variables.ts';
import { matches } from '../policy.ts';
import type { Posture, TakenPosture } from '../posture.ts';
import { expectedPosture } from './posture-expected.ts';
import { recordsIn } from './posture-facts.ts';
import { insideDifferences } from './posture-inside.ts';

export interface Claimed {
  posture: TakenPosture;
  /** Of a cell that waited: what it was given afterwards. */
  given: Posture['given'];
  /** The names of the run's inputs. */
  inputs: readonly string[];
  effective: Effective;
  /** The profile that the policy pins for this runtime, as the record has it. */
  seccomp: string | undefined;
}

/**
 * Whether the posture that a result claims is what the pinned policy requires, judged by the rules of the worker that
 * sealed the cell. What only that worker knew is taken from the posture itself: the leased uid, init's digest, the machine.
 */
export function* claimedDifferences({ posture, given, inputs, effective, seccomp }: Claimed): Generator<string> {
  const records = recordsIn(posture.inside);
  const told = Object.values(posture.inside).reduce<number>(
    (sum, lines) => sum + (Array.isArray(lines) ? lines.length : 1),
    0,
  );
  if (told !== records.length) yield `${told - records.length} lines of the posture are no records of init`;
  const ids = records.find((one) => one.key === 'ids');
  const kernel = records.find((one) => one.key === 'kernel');
  const init = records.find((one) => one.key === 'init');
  const uid = ids?.ruid ?? -1;
  if (uid < lowestUid) yield `the job has the uid ${uid}, and those of jobs begin at ${lowestUid}`;
  // In a cell that waited, the inputs came into the folder that was mounted when it was made.
  const mounted = given ? [] : inputs.map((name) => `/inputs/${name}`);
  const readOnly = [...mountFiles, '/sys/devices', '/inputs', ...mounted];
  const made = { plan: effective, uid, readOnly };
  const expected = expectedPosture(made, undefined, kernel?.machine ?? '', `sha256:${init?.sha256 ?? ''}`);
  yield* insideDifferences(records, expected);
  const before = given ? { ...effective, env: {} } : effective;
  for (const one of records) if (one.key === 'env') yield* variableDifferences(one, before);
  if (given) yield* givenDifferences(given.env, effective);
  yield* outsideDifferences(posture.outside, effective, seccomp);
}

/** The least that docker-compose.yml and a worker's settings lease to cells. */
const lowestUid = 1000;

/** A variable of the run or of Hotcell has its value; one of the image is let through by its name. */
function* variableDifferences({ name, sha256: digest }: { name: string; sha256: string }, effective: Effective) {
  const wanted: string | undefined = { ...effective.env, ...fixedVariables }[name];
  if (wanted !== undefined) {
    if (hexOf(sha256(`${name}=${wanted}`)) !== digest)
      yield `the variable ${name} has another value than was asked for`;
    return;
  }
  const isKnown = name === 'PATH' || threadVariables.some((one) => one === name);
  if (!isKnown && !effective.imageEnv.some((pattern) => matches(pattern, name)))
    yield `the environment has ${name}, which the policy does not let through`;
}

/** After its posture a cell that waited gets exactly the job's own variables. */
function* givenDifferences(given: Readonly<Record<string, string>>, { env }: Effective) {
  const wanted = jobVariables(env);
  for (const [name, value] of Object.entries(wanted))
    if (given[name] !== hexOf(sha256(`${name}=${value}`)))
      yield `the cell was not given the variable ${name} that was asked for`;
  for (const name of Object.keys(given))
    if (!Object.hasOwn(wanted, name)) yield `the cell was given the variable ${name}, which is not asked for`;
}

/** What the maker of the cell said of it, in either maker's words. */
function* outsideDifferences(outside: TakenPosture['outside'], effective: Effective, seccomp: string | undefined) {
  const isKept = outside['maker'] === 'keeper';
  const wanted = isKept ? ofKeeper(effective) : ofEngine(effective, seccomp);
  for (const [name, value] of Object.entries(wanted)) {
    const found = outside[name];
    if (JSON.stringify(found) !== JSON.stringify(value))
      yield `outside, ${name} is ${JSON.stringify(found) ?? 'untold'} and should be ${JSON.stringify(value)}`;
  }
  if (isKept) yield* boundDifferences(outside['cgroup'], effective);
}

function ofEngine({ limits, runtime }: Effective, seccomp: string | undefined): TakenPosture['outside'] {
  const memory = cellMemory({ limits, runtime });
  return {
    networkMode: 'none',
    networkDisabled: true,
    readonlyRootfs: true,
    privileged: false,
    noNewPrivileges: true,
    capDrop: ['ALL'],
    capAdd: [...initCapabilities],
    entrypoint: [initPath],
    memoryBytes: memory,
    memorySwapBytes: memory,
    pids: cellPids({ limits, runtime }),
    cpuQuota: cpuQuotaUs(limits.cpus),
    // The engine is given the profile on one line.
    ...(seccomp === undefined ? {} : { seccomp: sha256(JSON.stringify(JSON.parse(seccomp))) }),
  };
}

/** Under gVisor the first process is the sandbox's, which has rights of its own. */
function ofKeeper({ runtime }: Effective): TakenPosture['outside'] {
  const four = '00000000000001e0';
  const sets = runtime === 'runc' ? { CapPrm: four, CapEff: four, CapBnd: four } : {};
  return { NoNewPrivs: '1', Seccomp: '2', ...sets };
}

/** In either version's names of the cgroup's files. */
function* boundDifferences(cgroup: TakenPosture['outside'][string] | undefined, { limits, runtime }: Effective) {
  const lines = new Set(Array.isArray(cgroup) ? cgroup : []);
  const wanted = [
    ['memory.max', 'memory/memory.limit_in_bytes', cellMemory({ limits, runtime })],
    ['pids.max', 'pids/pids.max', cellPids({ limits, runtime })],
  ] as const;
  for (const [unified, hierarchy, value] of wanted)
    if (!lines.has(`${unified} ${value}`) && !lines.has(`${hierarchy} ${value}`))
      yield `outside, ${unified} of the cgroup should be ${value}`;
}
