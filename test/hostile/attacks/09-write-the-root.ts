import { type Attack, python } from '../support/attack.ts';

export const attack: Attack = {
  lines: '9',
  tries: 'to write outside of scratch',
  code: python`
def write(path):
    def action():
        open(path, "w").write("x")
        os.unlink(path)
    return tried(action)
observe(root=write("/x"), etc=write("/etc/x"), dev=write("/dev/x"), usr=write("/usr/local/x"), passwd=opened("/etc/passwd", os.O_WRONLY), init=opened("/usr/bin/env", os.O_WRONLY))
`,
  sealed: {
    root: ['EROFS', 'EACCES'],
    etc: ['EROFS', 'EACCES'],
    dev: ['EROFS', 'EACCES'],
    usr: ['EROFS', 'EACCES'],
    passwd: ['EROFS', 'EACCES'],
    init: ['EROFS', 'EACCES'],
  },
};
