import { type Attack, python } from '../support/attack.ts';

export const attack: Attack = {
  lines: '23',
  tries: 'to load a BPF program, to read performance counters, to handle page faults, to be a file system',
  code: python`
attributes = (ctypes.c_uint32 * 32)(2, 4, 4, 1)  # BPF_MAP_CREATE of an array.
event = (ctypes.c_uint8 * 128)()
ctypes.cast(event, ctypes.POINTER(ctypes.c_uint32))[0] = 1  # PERF_TYPE_SOFTWARE
ctypes.cast(event, ctypes.POINTER(ctypes.c_uint32))[1] = 112
def file_system():
    # What waits for an answer of its own: like a page fault, a means to stop the kernel in the middle of something.
    fd = os.open("/dev/fuse", os.O_RDWR)
    return syscall("mount", b"none", b"/tmp", b"fuse", 0, b"fd=%d,rootmode=40000,user_id=0,group_id=0" % fd)
def be_file_system():
    try:
        return file_system()
    except OSError as error:
        return name(error.errno)
observe(
    bpf=forked(lambda: syscall("bpf", 0, ctypes.byref(attributes), 128)),
    perf=forked(lambda: syscall("perf_event_open", ctypes.byref(event), 0, -1, -1, 0)),
    userfaultfd=forked(lambda: syscall("userfaultfd", 0)),
    fanotify=forked(lambda: syscall("fanotify_init", 0, 0)),
    fuse=forked(be_file_system),
)
`,
  deniedAnyway: {
    runc: {
      bpf: 'ENOSYS',
      perf: ['ENOSYS', 'ENOENT', 'EACCES'],
      userfaultfd: 'ENOSYS',
      fanotify: 'ENOSYS',
      fuse: 'ENOENT',
    },
    gvisor: { bpf: 'ENOSYS', perf: ['ENODEV', 'ENOSYS'], userfaultfd: 'ENOSYS', fanotify: 'ENOSYS' },
  },
  sealed: { bpf: 'EPERM', perf: 'EPERM', userfaultfd: 'EPERM', fanotify: 'EPERM', fuse: ['ENOENT', 'EACCES', 'EPERM'] },
};
