import { type Attack, python } from '../support/attack.ts';

export const attack: Attack = {
  lines: '66',
  tries: 'to learn the paths of the host from cgroups and mounts',
  code: python`
cgroups = [line.strip().split(":", 2)[2] for line in open("/proc/self/cgroup")]
observe(cgroup=any("docker" in path for path in cgroups), secret=any("hotcell-secret-place" in line for line in open("/proc/self/mountinfo")), _cgroups=cgroups[:3])
`,
  deniedAnyway: { gvisor: { cgroup: false } },
  sealed: { cgroup: false, secret: false },
};
