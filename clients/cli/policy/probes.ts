import { threadVariables } from '@hotcell/contract/job-variables.ts';
import { type LimitName, limitNames } from '@hotcell/contract/limits.ts';
import { matches, type Policy } from '@hotcell/contract/policy.ts';
import type { Result } from '@hotcell/contract/result.ts';
import type { RunRequest } from '@hotcell/contract/spec.ts';

const mib = 1024 * 1024;

/** A program that tries something, and the policy's expected effect. */
export interface Probe {
  name: string;
  request: RunRequest;
  /** How the effect differs from the policy; undefined if it does not. */
  differs: (seen: Seen) => string | undefined;
}

interface Seen {
  result: Result;
  /** The last line of the program's stdout, parsed as JSON. */
  said: Readonly<Record<string, unknown>>;
}

const python = (code: string, more: Partial<RunRequest> = {}): Omit<RunRequest, 'policy'> => ({
  blocks: [{ language: 'python', code }],
  ...more,
});

/** The nearest value to the wanted one that the policy allows. */
function within(policy: Policy, name: LimitName, wanted: number): number {
  const { min, max } = policy.limits[name];
  return Math.max(min, Math.min(max, wanted));
}

const outcomeIs =
  (wanted: Result['outcome']) =>
  ({ result }: Seen) =>
    result.outcome === wanted ? undefined : `the outcome is ${result.outcome}, not ${wanted}: ${result.reason}`;

const network = `
import json, socket
interfaces = sorted(line.split(':')[0].strip() for line in open('/proc/net/dev').read().splitlines()[2:])
reached = []
for address in [('1.1.1.1', 53), ('169.254.169.254', 80), ('172.17.0.1', 80), ('10.0.0.1', 80)]:
    try:
        socket.create_connection(address, timeout=2).close()
        reached.append(address[0])
    except OSError:
        pass
try:
    socket.getaddrinfo('example.org', 80)
    reached.append('a resolver')
except OSError:
    pass
print(json.dumps({'interfaces': interfaces, 'reached': reached}))
`;

const writes = `
import json
written = []
for folder in ['/', '/etc', '/usr', '/usr/bin', '/var', '/dev', '/proc', '/sys', '/inputs', '/work', '/tmp', '/outputs']:
    try:
        open(folder.rstrip('/') + '/probe', 'w').write('x')
        written.append(folder)
    except OSError:
        pass
print(json.dumps({'written': written}))
`;

const environment = `
import json, os
print(json.dumps({'names': sorted(os.environ)}))
`;

const forks = `
import json, os, signal
children = []
try:
    while len(children) < 40000:
        child = os.fork()
        if child == 0:
            signal.pause()
        children.append(child)
except OSError:
    pass
made = len(children)
for child in children:
    os.kill(child, signal.SIGKILL)
for child in children:
    os.waitpid(child, 0)
print(json.dumps({'made': made}))
`;

/** Some kernels kill the program at the limit, others refuse it more memory: both prove the limit. */
const memory = (bytes: number) => `
import json
held = []
refused = False
try:
    for _ in range(${Math.ceil((2 * bytes) / (4 * mib))}):
        held.append(bytearray(b'x') * ${4 * mib})
except MemoryError:
    refused = True
held.clear()
print(json.dumps({'refused': refused}))
`;

const files = (bytes: number) => `
with open('/outputs/probe.bin', 'wb') as file:
    for _ in range(${Math.ceil(bytes / mib)}):
        file.write(b'x' * ${mib})
print('{}')
`;

const inputs = `
import json
refused = False
try:
    open('/inputs/probe/probe.txt', 'w')
except OSError:
    refused = True
print(json.dumps({'text': open('/inputs/probe/probe.txt').read(), 'refused': refused}))
`;

const ours = [
  ...['HOME', 'HOTCELL_INPUTS', 'HOTCELL_OUTPUTS', 'LANG', 'PATH', 'PYTHONUNBUFFERED', 'TMPDIR'],
  ...threadVariables,
];

/** The folders that a job may write to; a full one is no difference. */
const writable = ['/work', '/tmp', '/outputs'];

export const inputText = 'what was pinned\n';

export function probesOf(policy: Policy, inputSnapshot: string | undefined): Probe[] {
  const pids = within(policy, 'pids', 48);
  const memoryBytes = within(policy, 'memoryBytes', 128 * mib);
  const outputBytes = within(policy, 'outputBytes', 2 * mib);
  const own = policy.env.job.map((pattern) => pattern.replace(/\*$/, 'PROBE')).find((name) => name !== 'TZ');
  const probes: (Omit<Probe, 'request'> & { request: Omit<RunRequest, 'policy'> })[] = [
    {
      name: 'network',
      request: python(network),
      differs: ({ said }) =>
        same(said['interfaces'], ['lo']) && same(said['reached'], [])
          ? undefined
          : `the policy allows no network, but the program saw ${JSON.stringify(said)}`,
    },
    {
      name: 'writes',
      request: python(writes),
      differs: ({ said }) => {
        const beyond = listOf(said['written']).filter((folder) => !writable.includes(folder));
        return beyond.length === 0 && Array.isArray(said['written'])
          ? undefined
          : `it wrote outside its scratch: ${beyond.join(' ') || '(no answer)'}`;
      },
    },
    {
      name: 'env',
      request: python(environment, own === undefined ? {} : { env: { [own]: 'probe' } }),
      differs: ({ said }) => {
        const names = listOf(said['names']);
        const wanted = [...ours, ...(own === undefined ? [] : [own])];
        const missing = wanted.filter((name) => !names.includes(name));
        const more = names.filter(
          (name) =>
            !wanted.includes(name) &&
            !policy.env.image.some((pattern) => matches(pattern, name)) &&
            name !== 'LC_CTYPE',
        );
        if (missing.length + more.length === 0) return undefined;
        return `the environment differs: ${[...missing.map((n) => `-${n}`), ...more.map((n) => `+${n}`)].join(' ')}`;
      },
    },
    {
      name: 'forks',
      request: python(forks, { limits: { pids } }),
      differs: ({ said, result }) => {
        const { made } = said;
        if (typeof made !== 'number') return `it gave no answer (${result.outcome}: ${result.reason})`;
        return made <= pids ? undefined : `it created ${made} processes; ${pids} are allowed`;
      },
    },
    {
      name: 'memory',
      request: python(memory(memoryBytes), { limits: { memoryBytes } }),
      differs: (seen) => {
        const { said, result } = seen;
        // Under gVisor the host's kernel may kill the process behind the program, which then fails without an answer.
        const ended = policy.runtime === 'gvisor' && result.outcome === 'failed' && said['refused'] === undefined;
        return said['refused'] === true || ended ? undefined : outcomeIs('out_of_memory')(seen);
      },
    },
    {
      name: 'time',
      request: python('import time\ntime.sleep(600)', {
        limits: { timeoutSeconds: within(policy, 'timeoutSeconds', 2) },
      }),
      differs: outcomeIs('timed_out'),
    },
    {
      name: 'outputs',
      request: python(files(outputBytes + 2 * mib), { limits: { outputBytes } }),
      differs: ({ result }) =>
        result.usage.outputBytes <= outputBytes && result.outcome !== 'succeeded'
          ? undefined
          : `${result.usage.outputBytes} bytes were kept; ${outputBytes} are allowed (${result.outcome})`,
    },
    {
      name: 'limits',
      request: python("print('{}')"),
      differs: ({ result }) => {
        const { limits } = result;
        const wrong = limitNames.filter(
          (name) => limits?.[name] !== undefined && limits[name] > policy.limits[name].max,
        );
        return limits && wrong.length === 0 ? undefined : `the result exceeds the policy's limits: ${wrong.join(' ')}`;
      },
    },
  ];
  if (inputSnapshot !== undefined)
    probes.push({
      name: 'inputs',
      request: python(inputs, { inputs: { probe: inputSnapshot } }),
      differs: ({ said }) =>
        said['text'] === inputText && said['refused'] === true
          ? undefined
          : `the input differs from the pinned one or is writable: ${JSON.stringify(said)}`,
    });
  return probes.map((probe) => ({ ...probe, request: { ...probe.request, policy: policy.name } }));
}

function same(value: unknown, wanted: readonly string[]): boolean {
  return JSON.stringify(value) === JSON.stringify(wanted);
}

function listOf(value: unknown): string[] {
  return Array.isArray(value) ? value.map(String) : [];
}
