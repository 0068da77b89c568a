import { type Attack, python } from '../support/attack.ts';

export const attack: Attack = {
  lines: '70',
  tries: 'to open files of the platform or of other tenants on the host',
  code: python`
place = where()
observe(state=opened(place["state"]), engine=opened("/var/lib/docker"), socket=tried(os.stat, "/var/run/docker.sock"))
`,
  sealed: { state: 'ENOENT', engine: 'ENOENT', socket: 'ENOENT' },
};
