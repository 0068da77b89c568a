import { type Attack, python } from '../support/attack.ts';

export const attack: Attack = {
  lines: '29',
  tries: 'to make system calls by the 32-bit interface, which a filter may have forgotten',
  code: python`
# Calls that the filter allows by its own interface: by a foreign one it must know neither. Past it is whatever the
# kernel itself answers, and be it that there is no such interface, as on gVisor.
def by_int80():
    answer = int80(20)
    return "ok" if answer > 0 else name(-answer)
def by_x32():
    return "ok" if libc.syscall(ctypes.c_long(0x40000000 + 39)) > 0 else name(ctypes.get_errno())
answers = (forked(by_int80), forked(by_x32)) if x86 else ("SIGSYS", "SIGSYS")
past = [answer not in ("EPERM", "SIGSYS", "SIGSEGV") for answer in answers]
observe(int80Passes=past[0], x32Passes=past[1], _int80=answers[0], _x32=answers[1])
`,
  deniedAnyway: {
    // The kernel may have been built without it.
    runc: { int80Passes: false },
  },
  sealed: { int80Passes: false, x32Passes: false },
};
