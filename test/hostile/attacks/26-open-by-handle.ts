import { type Attack, python } from '../support/attack.ts';

export const attack: Attack = {
  lines: '26',
  tries: 'to open files by handle, or through another process’s root, past their folders’ permissions',
  code: python`
handle = (ctypes.c_uint32 * 40)(128)
mount = ctypes.c_int()
observe(
    name=forked(lambda: syscall("name_to_handle_at", -100, b"/etc/hostname", ctypes.byref(handle), ctypes.byref(mount), 0)),
    open=forked(lambda: syscall("open_by_handle_at", -100, ctypes.byref(handle), 0)),
    root=opened("/proc/1/root/etc/hostname"),
)
`,
  deniedAnyway: {
    runc: { name: 'ENOTSUP', open: 'ENOTSUP' },
    gvisor: { name: ['ENOTSUP', 'ENOSYS'], open: ['ENOTSUP', 'ENOSYS'] },
  },
  sealed: { name: 'EPERM', open: 'EPERM', root: ['EACCES', 'EPERM'] },
};
