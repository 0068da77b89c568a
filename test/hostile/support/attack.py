"""What every attack uses: try something, and say what came of it."""
import ctypes, errno, json, os, platform, signal, socket, sys, traceback

libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
x86 = platform.machine() == "x86_64"
numbers = {  # x86-64, arm64
    "acct": (163, 89), "add_key": (248, 217), "bpf": (321, 280), "chroot": (161, 51), "clock_settime": (227, 112),
    "clone": (56, 220), "clone3": (435, 435), "delete_module": (176, 106), "fanotify_init": (300, 262),
    "finit_module": (313, 273), "fsopen": (430, 430), "init_module": (175, 105), "io_setup": (206, 0),
    "io_uring_setup": (425, 425),
    "ioperm": (173, None), "iopl": (172, None), "kcmp": (312, 272), "kexec_load": (246, 104), "keyctl": (250, 219),
    "memfd_secret": (447, 447), "modify_ldt": (154, None), "mount": (165, 40), "mount_setattr": (442, 442),
    "move_mount": (429, 429), "mq_open": (240, 180), "msgget": (68, 186), "name_to_handle_at": (303, 264),
    "open_by_handle_at": (304, 265), "open_tree": (428, 428), "perf_event_open": (298, 241), "personality": (135, 92),
    "pidfd_getfd": (438, 438), "pidfd_open": (434, 434), "pivot_root": (155, 41), "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271), "ptrace": (101, 117), "reboot": (169, 142), "request_key": (249, 218),
    "seccomp": (317, 277), "sethostname": (170, 161), "setns": (308, 268), "settimeofday": (164, 170), "shmat": (30, 196), "shmget": (29, 194),
    "swapon": (167, 224), "syncfs": (306, 267), "syslog": (103, 116), "umount2": (166, 39), "unshare": (272, 97), "userfaultfd": (323, 282),
    "vmsplice": (278, 75),
}


def where():
    """What the test tells an attack of the host: ports, names, paths."""
    return json.load(open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "where.json")))


def name(number):
    return errno.errorcode.get(number, str(number))


def tried(action, *arguments, **named):
    """'ok', or the name of the error."""
    try:
        action(*arguments, **named)
    except OSError as error:
        return name(error.errno) if error.errno else type(error).__name__
    return "ok"


def opened(path, flags=os.O_RDONLY):
    return tried(lambda: os.close(os.open(path, flags | os.O_NONBLOCK)))


def syscall(called, *arguments):
    """'ok', or the name of the error, of a system call by its own number."""
    number = numbers[called][0 if x86 else 1]
    if number is None:
        return "EPERM"  # There is no such call on this architecture.
    words = [ctypes.c_void_p(None) if a is None else a if isinstance(a, (bytes, ctypes._SimpleCData, ctypes._Pointer, ctypes.Array)) or hasattr(a, "_obj")
             else ctypes.c_long(a) for a in arguments]
    result = libc.syscall(ctypes.c_long(number), *words)
    return "ok" if result >= 0 else name(ctypes.get_errno())


def int80(number):
    """What the kernel answers by its 32-bit interface, with every argument 0: x86 only."""
    import mmap
    # xor ebx, ebx; xor ecx, ecx; mov eax, number; int 0x80; ret
    code = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    code.write(b"\x31\xdb\x31\xc9\xb8" + number.to_bytes(4, "little") + b"\xcd\x80\xc3")
    return ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(code)))()


def capabilities():
    """How many are in the effective and in the permitted set."""
    sets = (ctypes.c_uint32 * 6)()
    libc.capget((ctypes.c_uint32 * 2)(0x20080522, 0), sets)
    return tuple(sum(bin(sets[word + one]).count("1") for word in (0, 3)) for one in (0, 1))


def forked(action):
    """The same in a child, so that what succeeds does not change this process: its answer, or the signal that ended it."""
    reads, writes = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            if os.getuid() == 0:
                # In the weak container this succeeds: what is mounted or turned around now stays this child's.
                libc.unshare(0x20000)
                libc.mount(b"none", b"/", None, 1 << 14 | 1 << 18, None)
            os.write(writes, str(action()).encode())
        except BaseException:
            os.write(writes, traceback.format_exc().encode()[-2000:])
        os._exit(0)
    os.close(writes)
    with os.fdopen(reads) as answer:
        text = answer.read()
    _, status = os.waitpid(child, 0)
    return signal.Signals(os.WTERMSIG(status)).name if os.WIFSIGNALED(status) else text


def interface(kind):
    """Make a network interface by /dev/net/tun, whose packets would be this process's: in a namespace that goes with it."""
    import fcntl, struct
    libc.unshare(0x40000000)

    def make():
        # The device opens for everybody; what it is for needs a capability.
        with open("/dev/net/tun", "r+b", buffering=0) as tun:
            fcntl.ioctl(tun, 0x400454CA, struct.pack("16sH22x", b"hot0", kind))
    return tried(make)


def status_of(field, path="/proc/self/status"):
    for line in open(path):
        if line.startswith(field + ":"):
            return line.split(":", 1)[1].strip()
    return "absent"


def told(path, places=("", "/host")):
    """Whether a file or folder of the kernel's has something in it: where it belongs, or where a host's was mounted."""
    for place in places:
        at = "%s/%s" % (place, path)
        try:
            if os.listdir(at) if os.path.isdir(at) else open(at, "rb").read(4096):
                return True
        except OSError:
            pass
    return False


def observe(**what):
    print("OBSERVED " + json.dumps(what), flush=True)
