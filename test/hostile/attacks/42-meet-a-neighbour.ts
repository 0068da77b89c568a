import { type Attack, python } from '../support/attack.ts';

export const attack: Attack = {
  lines: '42',
  tries: 'to meet a cell that runs at the same time: by port, abstract socket, shared memory',
  code: python`
# The neighbour listens, and has made a segment: see support/neighbour.py.
def port():
    with socket.create_connection(("127.0.0.1", 47011), timeout=5):
        pass
def abstract():
    with socket.socket(socket.AF_UNIX) as s:
        s.connect("\0hotcell-neighbour")
processes = [p for p in os.listdir("/proc") if p.isdigit() and b"neighbour" in open("/proc/%s/cmdline" % p, "rb").read()]
observe(port=tried(port), abstract=tried(abstract), segment=syscall("shmget", 0x48434C4C, 0, 0), process=len(processes) > 0, file=os.path.exists("/dev/shm/neighbour"))
`,
  sealed: { port: 'ECONNREFUSED', abstract: 'ECONNREFUSED', segment: 'ENOENT' },
};
