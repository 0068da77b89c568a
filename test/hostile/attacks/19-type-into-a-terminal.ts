import { type Attack, python } from '../support/attack.ts';

export const attack: Attack = {
  lines: '19',
  tries: 'to type into the terminal of its parent, or to read its input',
  code: python`
import fcntl
TIOCSTI = 0x5412
def type_into(fd):
    try:
        return tried(fcntl.ioctl, fd, TIOCSTI, b"x")
    except ValueError as error:
        return type(error).__name__
observe(terminal=any(os.isatty(fd) for fd in (0, 1, 2)), typed=type_into(0), input="nothing" if os.fstat(0).st_rdev == os.makedev(1, 3) and os.read(0, 1) == b"" else "something")
`,
  // gVisor has no such call.
  deniedAnyway: { gvisor: { typed: 'ENOTTY' } },
  sealed: { terminal: false, typed: { runc: 'EPERM', gvisor: 'ENOTTY' }, input: 'nothing' },
};
