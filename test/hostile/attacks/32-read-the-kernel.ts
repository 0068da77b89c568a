import { type Attack, python } from '../support/attack.ts';

export const attack: Attack = {
  lines: '32,67',
  tries: 'to read what the kernel tells of the host in /proc and /sys',
  code: python`
def size(path):
    try:
        if os.path.isdir(path):
            return len(os.listdir(path))
        with open(path, "rb") as file:
            return len(file.read(4096))
    except OSError:
        return 0
# The sentry's own answers tell nothing of the host.
gvisor = "gvisor" in open("/proc/cmdline").read()
observe(
    keys=size("/proc/keys") > 0,
    timers=size("/proc/timer_list") > 0,
    interrupts=size("/proc/interrupts") > 0,
    kcore=size("/proc/kcore") > 0,
    symbols=size("/proc/kallsyms") > 0,
    modules=size("/proc/modules") > 0,
    disks=size("/proc/diskstats") + size("/proc/partitions") > 0,
    config=size("/proc/config.gz") > 0,
    cmdline=not gvisor and size("/proc/cmdline") > 0,
    boot=not gvisor and size("/proc/sys/kernel/random/boot_id") > 0,
    hardware=size("/sys/class/dmi") + size("/sys/firmware") + size("/sys/block") > 0,
)
`,
  deniedAnyway: {
    // Not every kernel has all of it.
    runc: { keys: false, timers: false, kcore: false, symbols: false, modules: false, config: false },
    gvisor: {
      keys: false,
      timers: false,
      interrupts: false,
      kcore: false,
      symbols: false,
      modules: false,
      disks: false,
      config: false,
      cmdline: false,
      boot: false,
      hardware: false,
    },
  },
  sealed: {
    keys: false,
    timers: false,
    interrupts: false,
    kcore: false,
    symbols: false,
    modules: false,
    disks: false,
    config: false,
    cmdline: false,
    boot: false,
    hardware: false,
  },
};
