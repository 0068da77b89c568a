import { type Attack, python } from '../support/attack.ts';

export const attack: Attack = {
  lines: '20',
  tries: 'to make a namespace by clone3, whose flags no filter sees, and to get something from it',
  code: python`
class CloneArgs(ctypes.Structure):
    _fields_ = [(f, ctypes.c_uint64) for f in ("flags", "pidfd", "child_tid", "parent_tid", "exit_signal", "stack", "stack_size", "tls")]
def mount_inside():
    args = CloneArgs(flags=0x10000000 | 0x20000, exit_signal=17)  # A user and a mount namespace.
    child = libc.syscall(ctypes.c_long(435), ctypes.byref(args), ctypes.c_long(ctypes.sizeof(args)))
    if child < 0:
        return name(ctypes.get_errno())
    if child == 0:
        # Root of its own namespace: does a mount of it succeed?
        os._exit(0 if syscall("mount", b"none", b"/tmp", b"tmpfs", 0, 0) == "ok" else 1)
    _, status = os.waitpid(child, 0)
    return "mounted" if status == 0 else "no effect"
observe(mounted=forked(mount_inside))
`,
  deniedAnyway: {
    // A namespace of gVisor's own kernel: it can be made, and nothing can be mounted in it.
    gvisor: { mounted: 'no effect' },
  },
  sealed: { mounted: { runc: 'ENOSYS', gvisor: ['no effect', 'EPERM', 'EINVAL'] } },
};
