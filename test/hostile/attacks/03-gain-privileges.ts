import { type Attack, python } from '../support/attack.ts';

export const attack: Attack = {
  lines: '3',
  tries: 'to gain privileges by executing something',
  code: python`
import subprocess
PR_GET_NO_NEW_PRIVS = 39
def held_after_exec():
    # Drops the capabilities that it can drop and executes a program: root would get them all back.
    sets = (ctypes.c_uint32 * 6)()
    header = (ctypes.c_uint32 * 2)(0x20080522, 0)
    libc.capget(header, sets)
    sets[0] = sets[3] = 0
    libc.capset(header, sets)
    before, _ = capabilities()
    told = subprocess.run([sys.executable, "-c", "from attack import *; print(capabilities()[0])"],
                          capture_output=True, text=True, env=dict(os.environ, PYTHONPATH=here))
    return "%d, then %d" % (before, int(told.stdout))
here = os.path.dirname(sys.modules["attack"].__file__)
observe(noNewPrivileges=libc.prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0), capabilities=forked(held_after_exec))
`,
  // gVisor answers that for every process.
  deniedAnyway: { gvisor: { noNewPrivileges: 1 } },
  sealed: { noNewPrivileges: 1, capabilities: '0, then 0' },
};
