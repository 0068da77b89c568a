import { type Attack, python } from '../support/attack.ts';

export const attack: Attack = {
  lines: '29',
  tries: 'to make system calls by the 32-bit interface, which a filter may have forgotten',
  code: python`
import mmap
def int80():
    # mov eax, 20 (getpid of 32 bits); int 0x80; ret
    code = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    code.write(b"\xb8\x14\x00\x00\x00\xcd\x80\xc3")
    address = ctypes.addressof(ctypes.c_char.from_buffer(code))
    return "answered" if ctypes.CFUNCTYPE(ctypes.c_int)(address)() > 0 else "refused"
def x32():
    return "answered" if libc.syscall(ctypes.c_long(0x40000000 + 39)) > 0 else name(ctypes.get_errno())
observe(int80=forked(int80) if x86 else "SIGSYS", x32=forked(x32) if x86 else "ENOSYS")
`,
  deniedAnyway: {
    // The kernel may have been built without either; gVisor has neither.
    runc: { int80: ['SIGSEGV', 'SIGSYS'], x32: 'ENOSYS' },
    gvisor: { int80: ['refused', 'SIGSEGV', 'SIGSYS'], x32: 'ENOSYS' },
  },
  sealed: {
    int80: { runc: 'SIGSYS', gvisor: ['SIGSYS', 'SIGSEGV', 'refused'] },
    x32: { runc: ['ENOSYS', 'SIGSYS', 'EPERM'], gvisor: ['ENOSYS', 'SIGSYS', 'EPERM'] },
  },
};
