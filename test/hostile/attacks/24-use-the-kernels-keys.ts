import { type Attack, python } from '../support/attack.ts';

export const attack: Attack = {
  lines: '24',
  tries: 'to use the kernel’s keyrings, which are not separate for containers',
  code: python`
observe(
    add=forked(lambda: syscall("add_key", b"user", b"hotcell", b"x", 1, -2)),
    ask=forked(lambda: syscall("request_key", b"user", b"hotcell-nothing", None, -2)),
    control=forked(lambda: syscall("keyctl", 0, -3, 1, 0, 0)),
)
`,
  deniedAnyway: {
    runc: { add: 'ENOSYS', ask: 'ENOSYS', control: 'ENOSYS' },
    gvisor: { add: ['EACCES', 'ENOSYS'], ask: ['EACCES', 'ENOSYS'], control: 'ENOSYS' },
  },
  sealed: { add: 'EPERM', ask: 'EPERM', control: 'EPERM' },
};
