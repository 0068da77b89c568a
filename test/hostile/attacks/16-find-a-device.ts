import { type Attack, python } from '../support/attack.ts';

export const attack: Attack = {
  lines: '16',
  tries: 'to find a dangerous device, or to make a network interface with one',
  code: python`
harmless = {"null", "zero", "full", "random", "urandom", "tty", "ptmx", "fd", "stdin", "stdout", "stderr", "pts", "shm", "mqueue", "core"}
# gVisor's own kernel answers for these two, not the host's; neither can be used. Newer ones name all by number, too.
sentry = {"fuse", "net"}
numbered = "/dev/char" if os.path.isdir("/dev/char") else None
by_number = {os.readlink(f"{numbered}/{n}").removeprefix("../") for n in os.listdir(numbered)} if numbered else set()
more = {n for n in set(os.listdir("/dev")) - {"char"} | by_number if n.split("/")[0] not in harmless | sentry}
observe(more=len(more) > 0, interface=forked(lambda: interface(0x1001)), _more=sorted(more)[:20])
`,
  sealed: { more: false, interface: ['ENOENT', 'EPERM'] },
};
