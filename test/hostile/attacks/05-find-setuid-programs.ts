import { type Attack, python } from '../support/attack.ts';

export const attack: Attack = {
  lines: '5',
  tries: 'to find a program that runs as another user',
  code: python`
found = 0
for top in ("/usr", "/bin", "/sbin", "/opt", "/work", "/tmp"):
    for folder, _, names in os.walk(top):
        for one in names:
            path = os.path.join(folder, one)
            try:
                at = os.lstat(path)
                special = bool(at.st_mode & 0o6000) and (at.st_mode & 0o170000) == 0o100000
                special = special or (not os.path.islink(path) and "security.capability" in os.listxattr(path))
            except OSError:
                continue
            found += special
observe(found=found > 0)
`,
  sealed: { found: false },
};
