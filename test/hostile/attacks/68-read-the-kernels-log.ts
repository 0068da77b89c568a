import { type Attack, python } from '../support/attack.ts';

export const attack: Attack = {
  lines: '68',
  tries: 'to read the kernel’s log',
  code: python`
buffer = ctypes.create_string_buffer(64)
observe(log=forked(lambda: syscall("syslog", 3, ctypes.byref(buffer), 64)))
`,
  sealed: { log: 'EPERM' },
};
