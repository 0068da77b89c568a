import { type Attack, python } from '../support/attack.ts';

export const attack: Attack = {
  lines: '22',
  tries: 'to use io_uring, around every filter of system calls',
  code: python`
parameters = (ctypes.c_char * 512)()
observe(io_uring=forked(lambda: syscall("io_uring_setup", 4, ctypes.byref(parameters))))
`,
  deniedAnyway: {
    // Some kernels are built or set without it.
    runc: { io_uring: ['ENOSYS', 'EPERM'] },
    gvisor: { io_uring: 'ENOSYS' },
  },
  sealed: { io_uring: 'EPERM' },
};
