import { type Attack, python } from '../support/attack.ts';

export const attack: Attack = {
  lines: '14',
  tries: 'to find a socket of the host in the file system',
  code: python`
import stat
found = []
for folder, names, files in os.walk("/"):
    if folder == "/":
        names[:] = [n for n in names if n not in ("proc", "sys", "host")]
    for one in files:
        try:
            if stat.S_ISSOCK(os.lstat(os.path.join(folder, one)).st_mode):
                found.append(os.path.join(folder, one))
        except OSError:
            pass
observe(found=len(found) > 0, _found=found[:10])
`,
  sealed: { found: false },
};
