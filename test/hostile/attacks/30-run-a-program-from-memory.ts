import { type Attack, python } from '../support/attack.ts';

export const attack: Attack = {
  lines: '30',
  tries: 'to shed its uid and filter by running a program from memory',
  code: python`
import subprocess
program = os.memfd_create("program")
with open(os.path.realpath(sys.executable), "rb") as file:
    while piece := file.read(1 << 20):
        os.write(program, piece)
asked = "import ctypes, os; print(os.getuid() >= 10000, ctypes.CDLL(None).prctl(21, 0, 0, 0, 0))"
told = subprocess.run(["/proc/self/fd/%d" % program, "-c", asked], pass_fds=(program,), capture_output=True, text=True,
                      env={"PYTHONHOME": sys.prefix})
own, mode = told.stdout.split() if told.returncode == 0 else ("True", "2")
# Running it is no gain by itself, since a job can also run what it writes to /work. Reported.
observe(ownUid=own == "True", filter=int(mode), _ran="ok" if told.returncode == 0 else told.stderr[-200:])
`,
  sealed: { ownUid: true, filter: 2 },
};
