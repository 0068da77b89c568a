import type { Runtime } from './runs.ts';

type Answer = string | readonly string[];

/** A program that takes somewhat more of one resource than a small cell has, and prints what happened. */
export interface Greedy {
  /** The line of the checklist. */
  line: string;
  takes: string;
  code: string;
  /** What the program prints in a cell; without limits it prints `ok`. */
  refused: Readonly<Record<Runtime, Answer>>;
}

const program = (code: string) => `from attack import *\n${code}`;
const both = (answer: Answer) => ({ runc: answer, gvisor: answer });
/** gVisor counts it as memory only, which is limited: see memory.test.ts. */
const memoryBoundsItInGvisor = (answer: Answer) => ({ runc: answer, gvisor: 'ok' });

/** Four files of 6 MiB: more than scratch holds, but none above the file limit. */
const fill = (folder: string) => `
def fill():
    for n in range(4):
        with open("${folder}/fill%d" % n, "wb", buffering=0) as file:
            for _ in range(6):
                if file.write(bytes(1 << 20)) < 1 << 20: raise OSError(errno.ENOSPC, "short")
seen = tried(fill)
for n in range(4):
    if os.path.exists("${folder}/fill%d" % n): os.unlink("${folder}/fill%d" % n)
observe(seen=seen)
`;

export const greedy: readonly Greedy[] = [
  {
    line: '43',
    takes: 'processes',
    code: program(`
import time
def bomb():
    for _ in range(80):
        if os.fork() == 0:
            time.sleep(1000)
observe(seen=tried(bomb))
`),
    refused: both('EAGAIN'),
  },
  {
    line: '57',
    takes: 'zombie processes',
    code: program(`
def leave():
    for _ in range(80):
        if os.fork() == 0:
            os._exit(0)
observe(seen=tried(leave))
`),
    refused: both('EAGAIN'),
  },
  { line: '45', takes: 'bytes of /tmp', code: program(fill('/tmp')), refused: both('ENOSPC') },
  { line: '45', takes: 'bytes of /work', code: program(fill('/work')), refused: both('ENOSPC') },
  { line: '47', takes: 'bytes of /dev/shm', code: program(fill('/dev/shm')), refused: both('ENOSPC') },
  {
    line: '48',
    takes: 'shared memory of System V',
    code: program(`
IPC_RMID = 0
segment = libc.shmget(0, 24 << 20, 0o600)
seen = "ok" if segment >= 0 else name(ctypes.get_errno())
if segment >= 0: libc.shmctl(segment, IPC_RMID, None)
observe(seen=seen)
`),
    refused: memoryBoundsItInGvisor('EINVAL'),
  },
  {
    line: '49',
    takes: 'a message queue',
    code: program(`observe(seen=syscall("mq_open", b"greedy", os.O_CREAT | os.O_RDWR, 0o600, None))`),
    refused: both(['ENOSPC', 'EPERM', 'EACCES', 'ENOSYS', 'EMFILE']),
  },
  {
    line: '50',
    takes: 'inodes',
    code: program(`
def many():
    for n in range(600):
        open("/work/many%d" % n, "w").close()
seen = tried(many)
for n in range(600):
    if os.path.exists("/work/many%d" % n): os.unlink("/work/many%d" % n)
observe(seen=seen)
`),
    refused: memoryBoundsItInGvisor('ENOSPC'),
  },
  {
    line: '51',
    takes: 'descriptors',
    code: program(`
held = []
observe(seen=tried(lambda: [held.append(os.open("/dev/null", os.O_RDONLY)) for _ in range(200)]))
`),
    refused: both('EMFILE'),
  },
  {
    line: '52',
    takes: 'a file of a pebibyte',
    code: program(`
with open("/work/huge", "wb") as file:
    seen = tried(file.truncate, 1 << 50)
os.unlink("/work/huge")
observe(seen=seen)
`),
    refused: both('EFBIG'),
  },
  {
    line: '60',
    takes: 'timers',
    code: program(`
def timers():
    timer = ctypes.c_void_p()
    for _ in range(500):
        if libc.timer_create(1, None, ctypes.byref(timer)) != 0:
            raise OSError(ctypes.get_errno(), "timer")
observe(seen=tried(timers))
`),
    refused: memoryBoundsItInGvisor('EAGAIN'),
  },
  {
    line: '61',
    takes: 'a core of its own death',
    code: program(`
import resource
observe(seen="ok" if resource.getrlimit(resource.RLIMIT_CORE) != (1, 1) else "none")
`),
    refused: both('none'),
  },
];
