import { type Attack, python } from '../support/attack.ts';

export const attack: Attack = {
  lines: '18',
  tries: 'to open the host’s memory, log, hypervisor or disk',
  code: python`
import stat
disks = [one for one in os.listdir("/dev") if stat.S_ISBLK(os.lstat("/dev/" + one).st_mode)]
named = [one for one in ("mem", "kmsg", "kvm") if os.path.exists("/dev/" + one)]
observe(
    there=len(disks + named) > 0,
    mem=opened("/dev/mem"),
    kmsg=opened("/dev/kmsg"),
    disk="ok" if any(opened("/dev/" + one) == "ok" for one in disks) else "denied",
    _disks=disks,
)
`,
  deniedAnyway: {
    // This kernel may have been built without it.
    runc: { mem: 'ENOENT' },
    // The nodes are there, and nothing in the sentry answers for them.
    gvisor: { mem: ['ENOENT', 'ENXIO'], kmsg: 'ENXIO', disk: 'denied' },
  },
  sealed: { there: false, mem: 'ENOENT', kmsg: 'ENOENT', disk: 'denied' },
};
