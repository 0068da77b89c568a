import { type Attack, python } from '../support/attack.ts';

export const attack: Attack = {
  lines: '27',
  tries: 'to load a module or another kernel, to reboot, to read the log, to set the clock',
  code: python`
# Each with an argument that no kernel accepts: the control gets as far as that, and the machine stays as it is.
observe(
    module=forked(lambda: syscall("init_module", None, 0, b"")),
    finit=forked(lambda: syscall("finit_module", -1, b"", 0)),
    unload=forked(lambda: syscall("delete_module", b"hotcell_nothing", 0o4000)),
    kexec=forked(lambda: syscall("kexec_load", 0, 1 << 20, None, 0xFFFFFFFF)),
    reboot=forked(lambda: syscall("reboot", 0, 0, 0, None)),
    swap=forked(lambda: syscall("swapon", b"/nowhere", 0)),
    accounting=forked(lambda: syscall("acct", b"/nowhere")),
    clock=forked(lambda: syscall("settimeofday", ctypes.byref((ctypes.c_long * 2)(0, -1)), None)),
    name=forked(lambda: syscall("sethostname", b"x", -1)),
)
`,
  deniedAnyway: {
    // A kernel without modules or without kexec.
    runc: { module: 'ENOSYS', finit: 'ENOSYS', unload: 'ENOSYS', kexec: ['ENOSYS', 'EPERM'] },
    gvisor: {
      module: 'ENOSYS',
      finit: 'ENOSYS',
      unload: 'ENOSYS',
      kexec: 'ENOSYS',
      reboot: 'ENOSYS',
      swap: 'ENOSYS',
      accounting: 'ENOSYS',
      clock: 'ENOSYS',
    },
  },
  sealed: {
    module: 'EPERM',
    finit: 'EPERM',
    unload: 'EPERM',
    kexec: 'EPERM',
    reboot: 'EPERM',
    swap: 'EPERM',
    accounting: 'EPERM',
    clock: 'EPERM',
    name: 'EPERM',
  },
};
