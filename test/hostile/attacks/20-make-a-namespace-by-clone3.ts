import { type Attack, python } from '../support/attack.ts';

export const attack: Attack = {
  lines: '20',
  tries: 'to make a useful namespace by clone3, whose flags a filter cannot see',
  code: python`
class CloneArgs(ctypes.Structure):
    _fields_ = [(f, ctypes.c_uint64) for f in ("flags", "pidfd", "child_tid", "parent_tid", "exit_signal", "stack", "stack_size", "tls")]
USER, MOUNT, UTS = 0x10000000, 0x20000, 0x4000000
def inside(flags, action):
    args = CloneArgs(flags=flags, exit_signal=signal.SIGCHLD)
    child = libc.syscall(ctypes.c_long(435), ctypes.byref(args), ctypes.c_long(ctypes.sizeof(args)))
    if child < 0:
        return name(ctypes.get_errno())
    if child == 0:
        # Root of its own namespace, if it got one: does it have an effect?
        os._exit(0 if action() == "ok" else 1)
    _, status = os.waitpid(child, 0)
    return "done" if status == 0 else "no effect"
mount = lambda: syscall("mount", b"none", b"/tmp", b"tmpfs", 0, 0)
observe(
    mounted=forked(lambda: inside(MOUNT, mount)),
    mountedAsUser=forked(lambda: inside(USER | MOUNT, mount)),
    named=forked(lambda: inside(USER | UTS, lambda: syscall("sethostname", b"x", 1))),
)
`,
  deniedAnyway: {
    // A namespace of gVisor's own kernel: it can be made by anybody, and nothing can be mounted in it.
    gvisor: { mountedAsUser: 'no effect' },
  },
  sealed: {
    mounted: { runc: 'ENOSYS', gvisor: ['no effect', 'EPERM'] },
    mountedAsUser: { runc: 'ENOSYS', gvisor: ['no effect', 'EPERM', 'EINVAL'] },
    named: { runc: 'ENOSYS', gvisor: ['no effect', 'EPERM', 'EINVAL'] },
  },
};
