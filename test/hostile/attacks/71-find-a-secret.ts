import { type Attack, python } from '../support/attack.ts';

export const attack: Attack = {
  lines: '71',
  tries: 'to find a secret of the worker in an environment, a command line or its memory',
  code: python`
secret = ("hotcell-" + "worker-secret").encode()
found = False
for process in [p for p in os.listdir("/proc") if p.isdigit()]:
    for file in ("environ", "cmdline"):
        try:
            found = found or secret in open("/proc/%s/%s" % (process, file), "rb").read()
        except OSError:
            pass
observe(found=found)
`,
  sealed: { found: false },
};
