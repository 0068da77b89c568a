import { type Attack, python } from '../support/attack.ts';

export const attack: Attack = {
  lines: '61',
  tries: 'to have a core of it written, or piped to a program that the host runs as root',
  code: python`
import resource
# 1 alone keeps a kernel from piping: with less it does, with more it writes one, too.
CORE = resource.RLIMIT_CORE
def change(to):
    resource.setrlimit(CORE, (to, to))
    if resource.getrlimit(CORE) != (to, to):
        raise OSError(errno.EPERM, "unchanged")
def by_prlimit():
    resource.prlimit(0, CORE, (0, 0))
def attempt(action, *arguments):
    try:
        return tried(action, *arguments)
    except ValueError:
        return "EPERM"  # How Python says it.
observe(
    kept=resource.getrlimit(CORE) == (1, 1),
    lowered=forked(lambda: attempt(change, 0)),
    raised=forked(lambda: attempt(change, 1 << 20)),
    prlimit=forked(lambda: attempt(by_prlimit)),
)
`,
  sealed: { kept: true, lowered: 'EPERM', raised: 'EPERM', prlimit: 'EPERM' },
};
