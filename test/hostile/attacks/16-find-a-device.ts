import { type Attack, python } from '../support/attack.ts';

export const attack: Attack = {
  lines: '16,18',
  tries: 'to find a device beyond the harmless ones, and to open the host’s memory, log, disk or hypervisor',
  code: python`
import stat
harmless = {"null", "zero", "full", "random", "urandom", "tty", "ptmx", "fd", "stdin", "stdout", "stderr", "pts", "shm", "mqueue", "core"}
# gVisor's own kernel answers for these two, not the host's; neither can be opened.
sentry = {"fuse", "net"}
more = set(os.listdir("/dev")) - harmless - sentry
def interface():
    # The device opens; what it is for needs a capability.
    import fcntl, struct
    with open("/dev/net/tun", "r+b", buffering=0) as tun:
        fcntl.ioctl(tun, 0x400454CA, struct.pack("16sH22x", b"hot0", 0x1001))
observe(
    more=len(more) > 0,
    kmsg=opened("/dev/kmsg"),
    mem=opened("/dev/mem"),
    interface=tried(interface),
    _more=sorted(more),
)
`,
  // This kernel may have been built without it.
  deniedAnyway: { runc: { mem: 'ENOENT' }, gvisor: { mem: 'ENOENT' } },
  sealed: { more: false, kmsg: 'ENOENT', mem: 'ENOENT', interface: ['ENOENT', 'EPERM'] },
};
