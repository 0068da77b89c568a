import { type Attack, python } from '../support/attack.ts';

export const attack: Attack = {
  lines: '67',
  tries: 'to identify the machine by /proc and /sys: disks, boot, settings, hardware',
  code: python`
# What gVisor's kernel says of these two is the same on every machine, or made up for each sandbox.
gvisor = "gvisor" in open("/proc/cmdline").read()
own = ("/host",) if gvisor else ("/host", "")
observe(
    disks=told("proc/diskstats") or told("proc/partitions"),
    config=told("proc/config.gz"),
    cmdline=told("proc/cmdline", own),
    boot=told("proc/sys/kernel/random/boot_id", own),
    hardware=told("sys/class/dmi") or told("sys/firmware") or told("sys/block"),
)
`,
  deniedAnyway: {
    runc: { config: false },
    gvisor: { config: false },
  },
  sealed: { disks: false, config: false, cmdline: false, boot: false, hardware: false },
};
