import { type Attack, python } from '../support/attack.ts';

export const attack: Attack = {
  lines: '16',
  tries: 'to find a device beyond the harmless ones, and to make itself a network interface by one',
  code: python`
harmless = {"null", "zero", "full", "random", "urandom", "tty", "ptmx", "fd", "stdin", "stdout", "stderr", "pts", "shm", "mqueue", "core"}
# gVisor's own kernel answers for these two, not the host's; neither can be used.
sentry = {"fuse", "net"}
more = set(os.listdir("/dev")) - harmless - sentry
observe(more=len(more) > 0, interface=forked(lambda: interface(0x1001)), _more=sorted(more)[:20])
`,
  sealed: { more: false, interface: ['ENOENT', 'EPERM'] },
};
