import { type Attack, python } from '../support/attack.ts';

export const attack: Attack = {
  lines: '22',
  tries: 'to bypass the filter by io_uring, in both interfaces, or by the older AIO',
  code: python`
parameters = (ctypes.c_char * 512)()
context = ctypes.c_ulong(0)
# EFAULT, for the parameters that are not there, is io_uring's own answer.
foreign = forked(lambda: int80(425)) if x86 else "SIGSYS"
observe(
    io_uring=forked(lambda: syscall("io_uring_setup", 4, ctypes.byref(parameters))),
    aio=forked(lambda: syscall("io_setup", 1, ctypes.byref(context))),
    foreign=foreign if foreign.startswith("SIG") else name(-int(foreign)),
)
`,
  deniedAnyway: {
    // Some kernels are built or set without it, or without the 32-bit interface.
    runc: { io_uring: ['ENOSYS', 'EPERM'], foreign: ['ENOSYS', 'EPERM', 'SIGSEGV', 'SIGSYS'] },
    gvisor: { io_uring: 'ENOSYS', foreign: ['ENOSYS', 'SIGSEGV', 'SIGSYS'] },
  },
  sealed: {
    io_uring: 'EPERM',
    aio: 'EPERM',
    foreign: { runc: 'SIGSYS', gvisor: ['EPERM', 'SIGSEGV', 'SIGSYS'] },
  },
};
