import { type Attack, python } from '../support/attack.ts';

export const attack: Attack = {
  lines: '4',
  tries: 'to load filters of its own, whose compiled programs take memory of the host that no cell pays for',
  code: python`
PR_SET_SECCOMP, PR_SET_NO_NEW_PRIVS, FILTER, SO_ATTACH_FILTER, GET_ACTION_AVAIL = 22, 38, 2, 26, 2
class Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("at", ctypes.c_void_p)]
# One instruction: allow, or for a socket keep all.
allow = (ctypes.c_uint64 * 1)(0x7FFF0000_00000006)
program = Program(1, ctypes.addressof(allow))
def by_prctl():
    libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    return "ok" if libc.prctl(PR_SET_SECCOMP, FILTER, ctypes.byref(program)) == 0 else name(ctypes.get_errno())
def by_socket():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
        one.setsockopt(socket.SOL_SOCKET, SO_ATTACH_FILTER, bytes(program))
observe(
    seccomp=syscall("seccomp", GET_ACTION_AVAIL, 0, ctypes.byref(ctypes.c_uint32(0x7FFF0000))),
    prctl=forked(by_prctl),
    socket=tried(by_socket),
)
`,
  // The sentry takes it and does nothing with it.
  deniedAnyway: { gvisor: { socket: 'ok' } },
  sealed: { seccomp: 'EPERM', prctl: 'EPERM', socket: { runc: 'EPERM', gvisor: 'ok' } },
};
