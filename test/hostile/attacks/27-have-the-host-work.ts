import { type Attack, python } from '../support/attack.ts';

export const attack: Attack = {
  lines: '27',
  tries: 'to have the host load modules, flush its disks, or give away its terminals and huge pages',
  code: python`
import fcntl, mmap, struct
SCTP, DCCP, L2TP, TCP_AO_ADD_KEY, SIOCGIFBR, TIOCSETD, MAP_HUGETLB = 132, 33, 115, 38, 0x8940, 0x5423, 0x40000
def protocol(kind, number):
    return tried(lambda: socket.socket(socket.AF_INET, kind, number).close())
def on_tcp(action):
    with socket.socket() as tcp:
        return tried(action, tcp)
def discipline():
    master, slave = os.openpty()
    fcntl.ioctl(slave, TIOCSETD, struct.pack("i", 0))
def huge():
    mmap.mmap(-1, 2 << 20, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | MAP_HUGETLB).close()
observe(
    sctp=protocol(socket.SOCK_STREAM, SCTP),
    dccp=protocol(6, DCCP),
    l2tp=protocol(socket.SOCK_DGRAM, L2TP),
    key=on_tcp(lambda tcp: tcp.setsockopt(socket.IPPROTO_TCP, TCP_AO_ADD_KEY, b"x")),
    bridge=on_tcp(lambda tcp: fcntl.ioctl(tcp, SIOCGIFBR, struct.pack("4Q", 0, 0, 0, 0))),
    discipline=tried(discipline),
    # Of no descriptor: whatever knows the call says so.
    flush=syscall("syncfs", -1),
    huge=tried(huge),
)
`,
  // What the sentry has of these is its own.
  deniedAnyway: { gvisor: { key: 'ok', bridge: 'ENOTTY', discipline: 'ENOTTY', flush: 'EBADF' } },
  sealed: {
    sctp: 'EPERM',
    dccp: 'EPERM',
    l2tp: 'EPERM',
    key: { runc: 'EPERM', gvisor: 'ok' },
    bridge: { runc: 'EPERM', gvisor: 'ENOTTY' },
    discipline: { runc: 'ENOENT', gvisor: 'ENOTTY' },
    flush: { runc: 'ok', gvisor: 'EBADF' },
    huge: 'EPERM',
  },
};
