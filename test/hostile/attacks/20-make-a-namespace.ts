import { type Attack, python } from '../support/attack.ts';

export const attack: Attack = {
  lines: '20',
  tries: 'to make a namespace in which it is root',
  code: python`
SIGCHLD = 17
flags = {"user": 0x10000000, "mount": 0x20000, "net": 0x40000000, "pid": 0x20000000, "ipc": 0x8000000, "uts": 0x4000000, "cgroup": 0x2000000}
def cloned(flag):
    # clone(flags, NULL, …) is a fork: the child answers by its exit.
    number = numbers["clone"][0 if x86 else 1]
    child = libc.syscall(ctypes.c_long(number), ctypes.c_long(flag | SIGCHLD), None, None, None, None)
    if child == 0:
        os._exit(0)
    if child < 0:
        return name(ctypes.get_errno())
    os.waitpid(child, 0)
    return "ok"
observe(**{"unshare_" + k: forked(lambda: syscall("unshare", flag)) for k, flag in flags.items()}, clone_user=forked(lambda: cloned(flags["user"])), clone_net=forked(lambda: cloned(flags["net"])))
`,
  sealed: {
    unshare_user: 'EPERM',
    unshare_mount: 'EPERM',
    unshare_net: 'EPERM',
    unshare_pid: 'EPERM',
    unshare_ipc: 'EPERM',
    unshare_uts: 'EPERM',
    unshare_cgroup: 'EPERM',
    clone_user: 'EPERM',
    clone_net: 'EPERM',
  },
};
