import { type Attack, python } from '../support/attack.ts';

export const attack: Attack = {
  lines: '31',
  tries: 'to write to the kernel’s settings, to sysfs, or to its own cgroup',
  code: python`
import glob
# Opened for writing and closed again: nothing is changed where it succeeds.
cgroups = [opened(path, os.O_WRONLY) for path in glob.glob("/sys/fs/cgroup/**/cgroup.procs", recursive=True)[:10]]
observe(
    core=opened("/proc/sys/kernel/core_pattern", os.O_WRONLY),
    hostname=opened("/proc/sys/kernel/hostname", os.O_WRONLY),
    sysrq=opened("/proc/sysrq-trigger", os.O_WRONLY),
    cgroup="ok" if "ok" in cgroups else "denied",
    folder="ok" if any(tried(lambda: (os.mkdir(d + "/x"), os.rmdir(d + "/x"))) == "ok" for d in ("/sys/fs/cgroup", "/sys/fs/cgroup/memory")) else "denied",
)
`,
  deniedAnyway: {
    runc: { sysrq: 'ENOENT' },
    gvisor: { core: 'ENOENT', sysrq: 'ENOENT' },
  },
  sealed: {
    core: ['EROFS', 'EACCES', 'ENOENT'],
    hostname: ['EROFS', 'EACCES', 'ENOENT'],
    sysrq: ['EROFS', 'EACCES', 'ENOENT'],
    cgroup: 'denied',
    folder: 'denied',
  },
};
