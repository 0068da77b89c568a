import { type Attack, python } from '../support/attack.ts';

export const attack: Attack = {
  lines: '12',
  tries: 'to find a descriptor or working directory of its parent',
  code: python`
fds = set()
for fd in range(0, 1024):
    try:
        os.fstat(fd)
    except OSError:
        continue
    fds.add(fd)
observe(more=len(fds - {0, 1, 2}) > 0, cwd=os.getcwd())
`,
  sealed: { more: false, cwd: '/work' },
};
