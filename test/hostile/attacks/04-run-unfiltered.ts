import { type Attack, python } from '../support/attack.ts';

export const attack: Attack = {
  lines: '4',
  tries: 'to make unfiltered system calls',
  code: python`
PR_GET_SECCOMP = 21
observe(mode=libc.prctl(PR_GET_SECCOMP, 0, 0, 0, 0))
`,
  sealed: { mode: 2 },
};
