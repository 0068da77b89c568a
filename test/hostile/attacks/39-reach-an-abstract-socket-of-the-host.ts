import { type Attack, python } from '../support/attack.ts';

export const attack: Attack = {
  lines: '39',
  tries: 'to reach a service that listens on an abstract socket of the host',
  code: python`
place = where()
def abstract():
    with socket.socket(socket.AF_UNIX) as s:
        s.connect("\0" + place["abstract"])
        return s.recv(64)
observe(abstract=tried(abstract))
`,
  sealed: { abstract: 'ECONNREFUSED' },
};
