import { type Attack, python } from '../support/attack.ts';

export const attack: Attack = {
  lines: '38',
  tries: 'to reach a service that listens on the host’s loopback',
  code: python`
place = where()
def tcp():
    with socket.create_connection(("127.0.0.1", place["port"]), timeout=5) as s:
        return s.recv(64)
observe(loopback=tried(tcp))
`,
  sealed: { loopback: 'ECONNREFUSED' },
};
