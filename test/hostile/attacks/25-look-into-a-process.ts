import { type Attack, python } from '../support/attack.ts';

export const attack: Attack = {
  lines: '25',
  tries: 'to trace a process or read its memory and descriptors',
  code: python`
def with_child(action):
    child = os.fork()
    if child == 0:
        signal.pause()
        os._exit(0)
    try:
        return action(child)
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
buffer = ctypes.create_string_buffer(8)
class Vector(ctypes.Structure):
    _fields_ = [("base", ctypes.c_void_p), ("length", ctypes.c_size_t)]
local = Vector(ctypes.addressof(buffer), 8)
def take_descriptor(child):
    try:
        return syscall("pidfd_getfd", os.pidfd_open(child), 0, 0)
    except OSError as error:
        return name(error.errno)
observe(
    trace=with_child(lambda child: syscall("ptrace", 0x4206, child, 0, 0)),
    read=with_child(lambda child: syscall("process_vm_readv", child, ctypes.byref(local), 1, ctypes.byref(local), 1, 0)),
    write=with_child(lambda child: syscall("process_vm_writev", child, ctypes.byref(local), 1, ctypes.byref(local), 1, 0)),
    descriptor=with_child(take_descriptor),
    compare=with_child(lambda child: syscall("kcmp", os.getpid(), child, 0, 0, 0)),
)
`,
  deniedAnyway: {
    runc: { read: 'ENOSYS', write: 'ENOSYS', compare: 'ENOSYS', descriptor: 'ENOSYS' },
    gvisor: { read: 'ENOSYS', write: 'ENOSYS', compare: 'ENOSYS', descriptor: 'ENOSYS' },
  },
  sealed: {
    trace: 'EPERM',
    read: 'EPERM',
    write: 'EPERM',
    descriptor: { runc: 'EPERM', gvisor: ['EPERM', 'ENOSYS'] },
    compare: 'EPERM',
  },
};
