import { type Attack, python } from '../support/attack.ts';

export const attack: Attack = {
  lines: '65',
  tries: 'to learn on which host it runs, or its own id',
  code: python`
observe(hostname=os.uname().nodename, file=open("/etc/hostname").read().strip())
`,
  sealed: { hostname: 'cell', file: 'cell' },
};
