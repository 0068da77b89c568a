import { type Attack, python } from '../support/attack.ts';

const unreachable = ['ENETUNREACH', 'EHOSTUNREACH'];

export const attack: Attack = {
  lines: '36',
  tries: 'to reach the metadata service, the host, the local network',
  code: python`
def udp(address):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        return tried(s.connect, (address, 80))
observe(metadata=udp("169.254.169.254"), lan=udp("192.168.1.1"), bridge=udp("172.17.0.1"), private=udp("10.0.0.1"))
`,
  sealed: { metadata: unreachable, lan: unreachable, bridge: unreachable, private: unreachable },
};
