import { type Attack, python } from '../support/attack.ts';

export const attack: Attack = {
  lines: '38,39',
  tries: 'to reach a service that listens on the host’s loopback, or on an abstract socket',
  code: python`
place = where()
def tcp():
    with socket.create_connection(("127.0.0.1", place["port"]), timeout=5) as s:
        return s.recv(64)
def abstract():
    with socket.socket(socket.AF_UNIX) as s:
        s.connect("\0" + place["abstract"])
        return s.recv(64)
observe(loopback=tried(tcp), abstract=tried(abstract))
`,
  deniedAnyway: {
    gvisor: { loopback: 'ECONNREFUSED', abstract: 'ECONNREFUSED' },
  },
  sealed: { loopback: 'ECONNREFUSED', abstract: 'ECONNREFUSED' },
};
