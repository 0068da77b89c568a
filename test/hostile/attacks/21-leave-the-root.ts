import { type Attack, python } from '../support/attack.ts';

export const attack: Attack = {
  lines: '21',
  tries: 'to change the root, enter a namespace, or use the new mount calls',
  code: python`
def enter():
    fd = os.open("/proc/self/ns/uts", os.O_RDONLY)
    return syscall("setns", fd, 0)
observe(
    chroot=forked(lambda: syscall("chroot", b"/tmp")),
    setns=forked(enter),
    pivot=forked(lambda: syscall("pivot_root", b"/tmp", b"/tmp")),
    open_tree=forked(lambda: syscall("open_tree", -100, b"/tmp", 1)),
    fsopen=forked(lambda: syscall("fsopen", b"tmpfs", 0)),
    move_mount=forked(lambda: syscall("move_mount", -1, b"", -1, b"", 0)),
    mount_setattr=forked(lambda: syscall("mount_setattr", -1, b"/", 0, None, 0)),
)
`,
  deniedAnyway: {
    runc: { open_tree: 'ENOSYS', fsopen: 'ENOSYS', move_mount: 'ENOSYS', mount_setattr: 'ENOSYS' },
    gvisor: { open_tree: 'ENOSYS', fsopen: 'ENOSYS', move_mount: 'ENOSYS', mount_setattr: 'ENOSYS' },
  },
  sealed: {
    chroot: 'EPERM',
    setns: 'EPERM',
    pivot: 'EPERM',
    open_tree: 'EPERM',
    fsopen: 'EPERM',
    move_mount: 'EPERM',
    mount_setattr: 'EPERM',
  },
};
