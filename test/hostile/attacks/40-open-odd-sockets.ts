import { type Attack, python } from '../support/attack.ts';

const absent = ['EAFNOSUPPORT', 'EPROTONOSUPPORT', 'ESOCKTNOSUPPORT'];

export const attack: Attack = {
  lines: '40',
  tries: 'to open a socket of a family that reaches the kernel or the hypervisor',
  code: python`
families = {"netlink": 16, "packet": 17, "vsock": 40, "alg": 38, "key": 15, "rds": 21, "tipc": 30, "xdp": 44, "bluetooth": 31, "can": 29}
def open_socket(family, kind):
    return tried(lambda: socket.socket(family, kind, 0).close())
observe(
    **{k: open_socket(family, socket.SOCK_STREAM if k == "vsock" else socket.SOCK_SEQPACKET if k in ("alg", "rds", "tipc") else socket.SOCK_RAW) for k, family in families.items()},
)
`,
  deniedAnyway: {
    // Families that this kernel was built without.
    runc: {
      vsock: absent,
      alg: absent,
      key: absent,
      rds: absent,
      tipc: absent,
      xdp: absent,
      bluetooth: absent,
      can: absent,
    },
    gvisor: {
      packet: 'EPERM',
      vsock: absent,
      alg: absent,
      key: absent,
      rds: absent,
      tipc: absent,
      xdp: absent,
      bluetooth: absent,
      can: absent,
    },
  },
  sealed: {
    netlink: 'EPERM',
    packet: 'EPERM',
    vsock: 'EPERM',
    alg: 'EPERM',
    key: 'EPERM',
    rds: 'EPERM',
    tipc: 'EPERM',
    xdp: 'EPERM',
    bluetooth: 'EPERM',
    can: 'EPERM',
  },
};
