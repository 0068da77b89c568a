import { type Attack, python } from '../support/attack.ts';

export const attack: Attack = {
  lines: '15',
  tries: 'to leave the root through /proc/self/fd, as a WORKDIR there would, or to find a volume',
  code: python`
# An image's own WORKDIR and VOLUME are tried in test/cell/images.test.ts.
entered = []
for fd in os.listdir("/proc/self/fd"):
    if tried(os.chdir, "/proc/self/fd/" + fd) == "ok" and "/proc/" not in os.getcwd():
        entered.append(os.getcwd())
TMPFS = 0x01021994
class Statfs(ctypes.Structure):
    _fields_ = [("type", ctypes.c_long), ("rest", ctypes.c_long * 30)]
def is_memory(path):
    at = Statfs()
    return libc.statfs(path.encode(), ctypes.byref(at)) == 0 and at.type == TMPFS
points = {line.split()[4] for line in open("/proc/self/mountinfo")}
kept = [p for p in points if os.path.isdir(p) and not p.startswith(("/proc", "/sys")) and os.access(p, os.W_OK) and not is_memory(p)]
observe(entered=len(entered) > 0, kept=len(kept) > 0, _entered=entered, _kept=sorted(kept))
`,
  sealed: { entered: false, kept: false },
};
