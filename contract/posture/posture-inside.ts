import { hexOf, sha256 } from '../digest.ts';
import { rlimitNumbers } from '../frames.ts';
import { type PostureKey, type PostureRecord, postureFields } from '../frames-posture.ts';
import { deviceDifferences, fdDifferences } from './posture-devices.ts';
import type { ExpectedPosture } from './posture-expected.ts';
import { hiddenDifferences } from './posture-hidden.ts';
import { cgroupDifferences } from './posture-limits.ts';
import { mountDifferences } from './posture-mounts.ts';
import { triedDifferences } from './posture-tried.ts';

/** The records of one kind. */
export type Records<K extends PostureKey> = Extract<PostureRecord, { key: K }>[];

const none = '0'.repeat(16);
/** KILL, SETGID, SETUID, SETPCAP. */
const ofInit = '00000000000001e0';
/** The differences between what a cell must be and what the kernel reports inside it. */
export function insideDifferences(records: readonly PostureRecord[], expected: ExpectedPosture): string[] {
  const of = <K extends PostureKey>(key: K) => records.filter((one) => one.key === key) as Records<K>;
  return [
    ...untold(of),
    ...identity(of, expected),
    ...triedDifferences(of('tried'), expected.runtime),
    ...network(of),
    ...mountDifferences(of('mount'), expected),
    ...hiddenDifferences(of('hidden'), of('mount'), expected),
    ...limits(of, expected),
    ...deviceDifferences(of('device'), expected.runtime),
    ...fdDifferences(of('fd')),
    ...surroundings(of, expected),
    ...init(of, expected),
  ];
}

type Of = <K extends PostureKey>(key: K) => Records<K>;

/** Every cell reports each of these exactly once: a fact that is missing can't be right. */
const once = [
  'ids',
  'caps',
  'noNewPrivs',
  'seccomp',
  'cpus',
  'cwd',
  'hostname',
  'kernel',
  'oomScoreAdj',
  'init',
] as const;

function* untold(of: Of): Generator<string> {
  const nameOf = (number: number) =>
    Object.entries(postureFields).find(([, { key }]) => key === number)?.[0] ?? `record ${number}`;
  for (const key of once) if (of(key).length !== 1) yield `${key} was reported ${of(key).length} times, not once`;
  for (const record of of('more')) yield `there are more records of ${nameOf(record.of)} than can be reported`;
  for (const record of of('unreadable')) {
    const name = nameOf(record.of);
    // A host's kernel without a security module has nothing to read: recorded, not judged.
    if (name !== 'lsm') yield `${name} could not be read (errno ${record.errno})`;
  }
}

function* identity(of: Of, { uid }: ExpectedPosture): Generator<string> {
  for (const { key: _, ...ids } of of('ids'))
    for (const [name, value] of Object.entries(ids))
      if (value !== uid) yield `${name} is ${value} and should be ${uid}`;
  for (const { gid } of of('group')) if (gid !== uid) yield `it is in the group ${gid}`;
  for (const { key: _, ...sets } of of('caps'))
    for (const [name, mask] of Object.entries(sets))
      if (mask !== none) yield `the ${name} capabilities are ${mask} and should be none`;
  for (const { value } of of('noNewPrivs')) if (value !== 1) yield 'new privileges can be gained';
  for (const { mode } of of('seccomp')) if (mode !== 2) yield `no seccomp filter is in force (mode ${mode})`;
}

function* network(of: Of): Generator<string> {
  const names = new Set([...of('interface'), ...of('procInterface')].map(({ name }) => name));
  if (of('interface').length !== of('procInterface').length) yield 'the two lists of network interfaces differ';
  for (const name of names) if (name !== 'lo') yield `there is a network interface ${name}`;
  // Only the loopback may have routes. The interface is the last word of an IPv6 line and the first of an IPv4 line.
  for (const { family, line } of of('route')) {
    const words = line.trim().split(/\s+/);
    if ((family === 6 ? words.at(-1) : words[0]) !== 'lo') yield `there is a route: ${line}`;
  }
}

function* limits(of: Of, expected: ExpectedPosture): Generator<string> {
  for (const { name, value } of expected.rlimits) {
    const found = of('rlimit').find(({ resource }) => resource === rlimitNumbers[name]);
    if (found?.soft !== value || found.hard !== value)
      yield `the limit ${name} is ${found?.soft ?? 'untold'} (at most ${found?.hard ?? 'untold'}) and should be ${value}`;
  }
  yield* cgroupDifferences(of('cgroup'), expected);
}

function* environment(of: Of, { env }: ExpectedPosture): Generator<string> {
  if (!env) return;
  const wanted = new Map(Object.entries(env).map(([name, value]) => [hexOf(sha256(`${name}=${value}`)), name]));
  for (const { name, sha256: digest } of of('env'))
    if (!wanted.delete(digest)) yield `the environment has ${name}, which is not asked for or has another value`;
  for (const missing of wanted.values()) yield `the environment lacks ${missing}`;
}

function* surroundings(of: Of, expected: ExpectedPosture): Generator<string> {
  yield* environment(of, expected);
  for (const { count } of of('cpus'))
    if (count > expected.cpusSeen) yield `it begins on ${count} processors and should on ${expected.cpusSeen}`;
  for (const { path } of of('cwd')) if (path !== '/work') yield `it starts in ${path}`;
  for (const { name } of of('hostname')) if (name !== expected.hostname) yield `the host name is ${name}`;
  for (const { machine } of of('kernel')) if (machine !== expected.machine) yield `the machine is ${machine}`;
  for (const { value } of of('oomScoreAdj'))
    if (value !== '1000') yield `the job's processes are not the first to be killed for memory (${value})`;
}

function* init(of: Of, { initSha256 }: ExpectedPosture): Generator<string> {
  for (const one of of('init')) {
    if (one.sha256 !== initSha256) yield `init is ${one.sha256} and should be ${initSha256}`;
    if (one.uid !== 0) yield `init has the uid ${one.uid}`;
    if (one.inheritable !== none) yield `init hands on the capabilities ${one.inheritable}`;
    for (const set of [one.permitted, one.effective, one.bounding])
      if (set !== ofInit) yield `init has the capabilities ${set} and should have ${ofInit}`;
  }
}
