import { type Attack, python } from '../support/attack.ts';

export const attack: Attack = {
  lines: '11',
  tries: 'to mount, unmount or remount',
  code: python`
MS_REMOUNT, MS_BIND = 32, 4096
os.makedirs("/tmp/mnt", exist_ok=True)
observe(
    tmpfs=forked(lambda: syscall("mount", b"none", b"/tmp/mnt", b"tmpfs", 0, 0)),
    bind=forked(lambda: syscall("mount", b"/etc", b"/tmp/mnt", b"none", MS_BIND, 0)),
    remount=forked(lambda: syscall("mount", b"none", b"/tmp", b"none", MS_REMOUNT | MS_BIND, 0)),
    umount=forked(lambda: syscall("umount2", b"/tmp/mnt", 2)),
)
`,
  sealed: { tmpfs: 'EPERM', bind: 'EPERM', remount: 'EPERM', umount: 'EPERM' },
};
