import { HotcellError, type Issue } from './errors.ts';
import { explain, type Vocabulary } from './explain-issues.ts';
import { limitNames } from './limits.ts';
import { ArgvBlock, CodeBlock, RunRequest } from './spec.ts';

const noNetwork =
  'cannot be said here: a cell has no network and none can be given; freeze the data as a snapshot (./hotcell snapshot create) and name it under inputs';
const noMounts =
  'cannot be said here: nothing of a host is mounted into a cell; name snapshots under inputs (read at /inputs/NAME) and write results to /outputs';
const noRights = 'cannot be said here: every cell has its own unprivileged user and no capabilities; leave it out';
const byPolicy = 'is for the policy to say, not for a request; name a policy (GET /v1/policies lists them)';
const byImage =
  'cannot be said here: packages and set-up come with the image: ./hotcell image build NAME --from python --requirements requirements.txt, then have NAME added to the policy';
const byOperator = 'is the operator’s setting and cannot be said in a request; leave it out';
const always = 'cannot be said here: a cell is used once and removed by itself, always; leave it out';

const said = (text: string, ...names: string[]) => names.map((name): [string, string] => [name, text]);

/** What people bring from other executors and container tools, and what to do here instead. */
const elsewhere: ReadonlyMap<string, string> = new Map([
  ...said(noNetwork, 'network', 'networks', 'network_mode', 'networkMode', 'net', 'extra_hosts', 'extraHosts', 'dns'),
  ...said(noNetwork, 'ports', 'expose', 'proxy', 'allow_network', 'internet', 'hosts', 'links'),
  ...said(noMounts, 'volumes', 'extra_volumes', 'extraVolumes', 'volume', 'mounts', 'mount', 'binds', 'bind', 'tmpfs'),
  ...said(noMounts, 'bind_dir', 'bindDir', 'work_dir', 'workDir', 'working_dir', 'workingDir', 'cwd', 'devices'),
  ...said(noRights, 'user', 'uid', 'gid', 'group_add', 'groups', 'privileged', 'cap_add', 'capAdd', 'caps', 'cap_drop'),
  ...said(
    noRights,
    'capabilities',
    'security_opt',
    'securityOpt',
    'seccomp',
    'apparmor',
    'ipc',
    'pid',
    'userns',
    'uts',
  ),
  ...said(
    noRights,
    'sysctls',
    'ulimits',
    'cgroup_parent',
    'cgroupParent',
    'oom_kill_disable',
    'hostConfig',
    'HostConfig',
  ),
  ...said(byPolicy, 'runtime', 'gpus', 'gpu', 'device_requests', 'deviceRequests', 'worker', 'queue', 'retention'),
  ...said(byPolicy, 'approval', 'approvals', 'languages', 'images', 'screening', 'node', 'host', 'nodeSelector'),
  ...said(
    byImage,
    'init_command',
    'initCommand',
    'requirements',
    'packages',
    'pip',
    'setup',
    'entrypoint',
    'dependencies',
  ),
  ...said(byImage, 'virtual_env_context', 'virtualenv', 'venv', 'conda', 'apt', 'build', 'dockerfile'),
  ...said(byOperator, 's3', 'endpoint', 's3Endpoint', 's3_endpoint', 'bucket', 'store', 'credentials', 'accessKey'),
  ...said(
    byOperator,
    'secretKey',
    'redis',
    'redisUrl',
    'registry',
    'tenant',
    'requester',
    'role',
    'run',
    'id',
    'installation',
  ),
  ...said(
    always,
    'auto_remove',
    'autoRemove',
    'stop_container',
    'stopContainer',
    'remove',
    'rm',
    'container_name',
    'restart',
  ),
  ['timeout', 'is limits.timeoutSeconds here'],
  ['timeoutSeconds', 'stands under limits: limits.timeoutSeconds'],
  ['memory', 'is limits.memoryBytes here, in bytes'],
  ['mem_limit', 'is limits.memoryBytes here, in bytes'],
  ['code', 'stands in a block: blocks: [{ language, code }]'],
  ['language', 'stands in a block: blocks: [{ language, code }]'],
  ['code_blocks', 'is blocks here'],
  ['command', 'is a block of its own here: blocks: [{ argv: […] }]'],
  ['cmd', 'is a block of its own here: blocks: [{ argv: […] }]'],
  ['args', 'is a block of its own here: blocks: [{ argv: […] }]; values for the code go into params'],
  ['environment', 'is env here'],
  ['environmentVariables', 'is env here'],
  ['secrets', 'cannot be said here: a cell is given none: it reaches nothing that would want one; leave it out'],
  ['outputs', 'need not be named: everything the code writes to /outputs is kept'],
  ['functions', 'are a bundled file here: files: [{ path, text }], imported from /work'],
  ...limitNames
    .filter((name) => name !== 'timeoutSeconds')
    .map((name): [string, string] => [name, `stands under limits: limits.${name}`]),
]);

/** Each is for a place in a request: what may stand there. */
const known = {
  request: Object.keys(RunRequest.shape),
  limits: [...limitNames],
  codeBlock: Object.keys(CodeBlock.shape),
  argvBlock: Object.keys(ArgvBlock.shape),
  file: ['path', 'text', 'base64'],
  retry: ['on', 'max'],
} as const;

function knownAt(path: readonly PropertyKey[], value: unknown): readonly string[] {
  if (path.length === 0) return known.request;
  if (path[0] === 'limits') return known.limits;
  if (path[0] === 'files') return known.file;
  if (path[0] === 'retry') return known.retry;
  return typeof value === 'object' && value !== null && 'argv' in value ? known.argvBlock : known.codeBlock;
}

const vocabulary: Vocabulary = {
  fieldsAt: knownAt,
  shapeOf: (value) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
    return 'argv' in value || 'base64' in value ? 1 : 0;
  },
  elsewhere,
};

const deepest = 64;

/** Whether a value is nested deeper than anything sensible: asked without recursion, before anything recurses into it. */
function tooDeep(value: unknown): boolean {
  let level: unknown[] = [value];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > deepest) return true;
    level = level.flatMap((v) => (typeof v === 'object' && v !== null ? Object.values(v) : []));
  }
  return false;
}

/** The body of a request, or everything that is wrong with it, each with what to do here instead. Never throws. */
export function readRunRequest(body: unknown): { request: RunRequest } | { issues: Issue[] } {
  if (tooDeep(body))
    return { issues: [{ path: '(whole)', message: `is nested deeper than ${deepest} levels: make it flatter` }] };
  const parsed = RunRequest.safeParse(body);
  if (parsed.success) return { request: parsed.data };
  return { issues: explain(parsed.error, body, vocabulary).map(({ path, message }) => ({ path, message })) };
}

export function parseRunRequest(body: unknown): RunRequest {
  const read = readRunRequest(body);
  if ('request' in read) return read.request;
  const shown = read.issues.map((issue) => `${issue.path}: ${issue.message}`).join('; ');
  throw new HotcellError('invalid', `the request is not valid: ${shown}`, { issues: read.issues });
}
