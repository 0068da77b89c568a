import { type Attack, python } from '../support/attack.ts';

export const attack: Attack = {
  lines: '17',
  tries: 'to make a device node of its own',
  code: python`
# A tmpfs in either place: a folder of the host has rules of its own.
scratch = "/scratch" if os.path.isdir("/scratch") else "/dev/shm"
def make(kind, major, minor):
    path = "%s/node-%d-%d" % (scratch, major, minor)
    result = tried(os.mknod, path, kind | 0o666, os.makedev(major, minor))
    if result == "ok":
        os.unlink(path)
    return result
observe(memory=make(0o20000, 1, 1), disk=make(0o60000, 254, 0), null=make(0o20000, 1, 3), fifo=tried(os.mkfifo, "/tmp/fifo-%d" % os.getpid()))
`,
  sealed: { memory: 'EPERM', disk: 'EPERM', null: 'EPERM' },
};
