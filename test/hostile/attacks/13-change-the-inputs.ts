import { type Attack, python } from '../support/attack.ts';

export const attack: Attack = {
  lines: '13',
  tries: 'to change, remove or add an input',
  code: python`
path = "/inputs/data/hello.txt"
def append():
    open(path, "a").write("")
observe(
    read=open(path).read().strip(),
    write=tried(append),
    chmod=tried(os.chmod, path, 0o666),
    rename=tried(os.rename, path, path),
    add=tried(lambda: (open("/inputs/data/new", "w").close(), os.unlink("/inputs/data/new"))),
    times=tried(os.utime, path, (1, 1)),
)
`,
  sealed: {
    write: ['EROFS', 'EACCES'],
    chmod: ['EROFS', 'EPERM'],
    rename: ['EROFS', 'EACCES'],
    add: ['EROFS', 'EACCES'],
    times: ['EROFS', 'EPERM'],
  },
};
