import { type Attack, python } from '../support/attack.ts';

export const attack: Attack = {
  lines: '42',
  tries: 'to pass bits to a cell that runs at the same time: by locks on files, or by watching them',
  code: python`
import fcntl, select, struct
# The neighbour holds locks on these, and opens them again and again: see support/neighbour.py.
from neighbour import places
def is_locked(path):
    with open(path, "rb") as file:
        return tried(fcntl.flock, file, fcntl.LOCK_EX | fcntl.LOCK_NB) == "EAGAIN"
watch = libc.inotify_init1(os.O_NONBLOCK)
there = [path for path in places if tried(lambda: open(path, "rb").close()) == "ok"]
locked = [path for path in there if is_locked(path)]
IN_OPEN = 0x20
for path in there:
    libc.inotify_add_watch(watch, path.encode(), IN_OPEN)
seen = select.select([watch], [], [], 3)[0] != []
observe(locked=len(locked) > 0, watched=seen, _locked=locked, _there=there)
`,
  sealed: { locked: false, watched: false },
};
