import { type Attack, python } from '../support/attack.ts';

export const attack: Attack = {
  lines: '7a',
  tries: 'to forge the words of PID 1, read its memory, trace it or stop it',
  code: python`
seen = [opened("/proc/1/fd/%d" % fd, os.O_WRONLY) for fd in (0, 1, 2)]
PTRACE_SEIZE = 0x4206
observe(
    forge="ok" if "ok" in seen else "denied",
    memory=opened("/proc/1/mem", os.O_RDWR),
    trace=forked(lambda: syscall("ptrace", PTRACE_SEIZE, 1, 0, 0)),
    signals=" ".join(sorted({tried(os.kill, 1, number) for number in (0, signal.SIGCONT, signal.SIGWINCH)})),
    deadly=" ".join(sorted({tried(os.kill, 1, number) for number in (signal.SIGTERM, signal.SIGSTOP, signal.SIGSEGV, signal.SIGKILL)})) if os.getuid() >= 10000 else "not tried",
)
`,
  sealed: {
    forge: 'denied',
    memory: ['EACCES', 'EPERM'],
    trace: 'EPERM',
    signals: 'EPERM',
    deadly: 'EPERM',
  },
};
