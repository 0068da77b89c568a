import { type Attack, python } from '../support/attack.ts';

export const attack: Attack = {
  lines: '7b',
  tries: 'to rewrite what the next block runs, from a block and from a process that it leaves behind',
  code: [
    python`
forgery = "from attack import *\nobserve(ran='forged')\n"
# Every file that could be the next block's is replaced: now, and again and again by a process that stays behind.
def forge():
    for path in next_files:
        try:
            open("/work/forged", "w").write(forgery)
            os.replace("/work/forged", path)
        except OSError:
            pass
next_files = ["/work/block_%d.py" % i for i in range(200)] + ["/work/next.py"]
next_files = [path for path in next_files if path != os.path.abspath(sys.argv[0])]
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        while True:
            forge()
    os._exit(0)
forge()
`,
    python`
observe(ran="original")
`,
  ],
  sealed: { ran: 'original' },
};
