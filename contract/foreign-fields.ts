import { limitNames } from './limits.ts';

const noNetwork = 'A cell has no network. Freeze the data as a snapshot and name it under inputs.';
const noMounts =
  'A cell mounts nothing of the host. Name snapshots under inputs (read them at /inputs/NAME) and write results to /outputs.';
const noRights = 'Every cell has its own unprivileged user and no capabilities. Remove this field.';
const byPolicy = 'The policy decides this, not the request. Name a policy (GET /v1/policies lists them).';
const byImage =
  'Packages and setup are part of the image. Ask the operator for an image that has them, and name it under image.';
const byOperator = 'The operator sets this, not the request. Remove this field.';
const always = 'A cell is used once and always removed. Remove this field.';
const argvBlock = 'Write a block: blocks: [{ argv: […] }].';

/** The same advice for several names. */
export const fields = (advice: string, names: string) =>
  names
    .trim()
    .split(/\s+/)
    .map((name): [string, string] => [name, advice]);

/** Fields that people bring from other executors and container tools, and what to do here instead. */
export const foreignFields: ReadonlyMap<string, string> = new Map([
  ...fields(
    noNetwork,
    `network networks network_mode networkMode net extra_hosts extraHosts dns ports expose proxy allow_network internet
     hosts links`,
  ),
  ...fields(
    noMounts,
    `volumes extra_volumes extraVolumes volume mounts mount binds bind tmpfs bind_dir bindDir work_dir workDir
     working_dir workingDir cwd devices`,
  ),
  ...fields(
    noRights,
    `user uid gid group_add groups privileged cap_add capAdd caps cap_drop capabilities security_opt securityOpt seccomp
     apparmor ipc pid userns uts sysctls ulimits cgroup_parent cgroupParent oom_kill_disable hostConfig HostConfig`,
  ),
  ...fields(
    byPolicy,
    `runtime gpus gpu device_requests deviceRequests worker queue retention approval approvals languages images
     screening node host nodeSelector`,
  ),
  ...fields(
    byImage,
    `init_command initCommand requirements packages pip setup entrypoint dependencies virtual_env_context virtualenv
     venv conda apt build dockerfile`,
  ),
  ...fields(
    byOperator,
    `s3 endpoint s3Endpoint s3_endpoint bucket store credentials accessKey secretKey redis redisUrl registry tenant
     requester role run id installation`,
  ),
  ...fields(always, 'auto_remove autoRemove stop_container stopContainer remove rm container_name restart'),
  ...fields('Use limits.memoryBytes, in bytes.', 'memory mem_limit'),
  ...fields('Put it in a block: blocks: [{ language, code }].', 'code language'),
  ...fields(argvBlock, 'command cmd'),
  ...fields('Use env.', 'environment environmentVariables'),
  ['args', `${argvBlock} Put values for the code into params.`],
  ['code_blocks', 'Use blocks.'],
  ['secrets', 'A cell has no network, so it has no use for secrets. Remove this field.'],
  ['outputs', 'Hotcell keeps everything that the code writes to /outputs. Remove this field.'],
  ['functions', 'Bundle a file: files: [{ path, text }]. The code imports it from /work.'],
  ['timeout', 'Use limits.timeoutSeconds.'],
  ...limitNames.map((name): [string, string] => [name, `Put it under limits: limits.${name}.`]),
]);
