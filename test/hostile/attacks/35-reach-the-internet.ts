import { type Attack, python } from '../support/attack.ts';

const unreachable = ['ENETUNREACH', 'EHOSTUNREACH'];

export const attack: Attack = {
  lines: '35',
  tries: 'to reach a public address by TCP and UDP',
  code: python`
def udp(address, family=socket.AF_INET):
    # To connect a datagram socket only asks for a route: no packet leaves.
    with socket.socket(family, socket.SOCK_DGRAM) as s:
        return tried(s.connect, (address, 53))
def tcp(address, family=socket.AF_INET):
    with socket.socket(family, socket.SOCK_STREAM) as s:
        s.setblocking(False)
        return tried(s.connect, (address, 443))
observe(udp4=udp("1.1.1.1"), tcp4=tcp("1.1.1.1"), udp6=udp("2606:4700:4700::1111", socket.AF_INET6), tcp6=tcp("2606:4700:4700::1111", socket.AF_INET6))
`,
  deniedAnyway: {
    // A host without IPv6.
    runc: {
      udp6: ['ENETUNREACH', 'EADDRNOTAVAIL', 'EAFNOSUPPORT'],
      tcp6: ['ENETUNREACH', 'EADDRNOTAVAIL', 'EAFNOSUPPORT'],
    },
  },
  sealed: {
    udp4: unreachable,
    tcp4: unreachable,
    udp6: [...unreachable, 'EAFNOSUPPORT', 'EADDRNOTAVAIL'],
    tcp6: [...unreachable, 'EAFNOSUPPORT', 'EADDRNOTAVAIL'],
  },
};
