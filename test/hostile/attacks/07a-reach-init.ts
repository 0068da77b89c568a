import { type Attack, python } from '../support/attack.ts';

export const attack: Attack = {
  lines: '7a',
  tries: 'to write as PID 1, read its memory, trace it or stop it',
  code: python`
seen = [opened("/proc/1/fd/%d" % fd, os.O_WRONLY) for fd in (0, 1, 2)]
PTRACE_SEIZE = 0x4206
def kill_first():
    return " ".join(sorted({tried(os.kill, 1, number) for number in (signal.SIGTERM, signal.SIGSTOP, signal.SIGSEGV, signal.SIGKILL)}))
def kill_a_stand_in():
    # The weak container's PID 1 has to go on: the first process of a namespace in it stands for it.
    libc.unshare(0x20000000)
    reads, writes = os.pipe()
    if (first := os.fork()) == 0:
        if os.fork() == 0:
            os.write(writes, kill_first().encode())
            os._exit(0)
        signal.pause()
    os.close(writes)
    # With the first process its whole namespace goes, who killed it too.
    answer = os.read(reads, 100).decode() or "killed"
    tried(os.kill, first, signal.SIGKILL)
    return answer
observe(
    forge="ok" if "ok" in seen else "denied",
    memory=opened("/proc/1/mem", os.O_RDWR),
    trace=forked(lambda: syscall("ptrace", PTRACE_SEIZE, 1, 0, 0)),
    signals=" ".join(sorted({tried(os.kill, 1, number) for number in (0, signal.SIGCONT, signal.SIGWINCH)})),
    deadly=forked(kill_first if os.getuid() >= 10000 else kill_a_stand_in),
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
