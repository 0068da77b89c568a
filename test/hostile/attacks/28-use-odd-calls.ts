import { type Attack, python } from '../support/attack.ts';

export const attack: Attack = {
  lines: '28',
  tries: 'to use rare system calls that exploits favour',
  code: python`
reads, writes = os.pipe()
buffer = ctypes.create_string_buffer(b"x")
class Vector(ctypes.Structure):
    _fields_ = [("base", ctypes.c_void_p), ("length", ctypes.c_size_t)]
page = Vector(ctypes.addressof(buffer), 1)
observe(
    personality=forked(lambda: syscall("personality", 0x0040000)),
    descriptors=forked(lambda: syscall("modify_ldt", 0, ctypes.byref(buffer), 1)) if x86 else "EPERM",
    secret=forked(lambda: syscall("memfd_secret", 0)),
    vmsplice=forked(lambda: syscall("vmsplice", writes, ctypes.byref(page), 1, 0)),
    messages=forked(lambda: syscall("msgget", 0, 0o1600)),
    queues=forked(lambda: syscall("mq_open", b"hotcell", 0o102, 0o600, None)),
)
`,
  deniedAnyway: {
    runc: { secret: 'ENOSYS', descriptors: ['ENOSYS', 'EPERM'] },
    gvisor: { secret: 'ENOSYS', vmsplice: 'ENOSYS', descriptors: 'EPERM' },
  },
  sealed: {
    personality: 'EPERM',
    descriptors: 'EPERM',
    secret: 'EPERM',
    vmsplice: 'EPERM',
    messages: 'EPERM',
    queues: 'EPERM',
  },
};
