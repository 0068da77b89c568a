import { type Attack, python } from '../support/attack.ts';

export const attack: Attack = {
  lines: '41',
  tries: 'to send forged packets by a raw socket or its own interface',
  code: python`
def raw(family, protocol):
    return tried(lambda: socket.socket(family, socket.SOCK_RAW, protocol).close())
observe(
    tcp=raw(socket.AF_INET, socket.IPPROTO_TCP),
    tcp6=raw(socket.AF_INET6, socket.IPPROTO_TCP),
    icmp=raw(socket.AF_INET, socket.IPPROTO_ICMP),
    tap=forked(lambda: interface(0x1002)),
)
`,
  deniedAnyway: {
    // A host without IPv6.
    runc: { tcp6: 'EAFNOSUPPORT' },
    // Registered without --net-raw: no process has raw sockets.
    gvisor: { tcp: 'EPERM', tcp6: 'EPERM', icmp: 'EPERM' },
  },
  sealed: { tcp: 'EPERM', tcp6: 'EPERM', icmp: 'EPERM', tap: ['ENOENT', 'EPERM'] },
};
