import { type Attack, python } from '../support/attack.ts';

export const attack: Attack = {
  lines: '3',
  tries: 'to gain privileges by executing something',
  code: python`
PR_GET_NO_NEW_PRIVS = 39
observe(noNewPrivileges=libc.prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0))
`,
  // gVisor answers that for every process.
  deniedAnyway: { gvisor: { noNewPrivileges: 1 } },
  sealed: { noNewPrivileges: 1 },
};
