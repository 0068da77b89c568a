import { type Attack, python } from '../support/attack.ts';

export const attack: Attack = {
  lines: '8',
  tries: 'to run unconfined by a security module, or to forge its label',
  code: python`
current = "/proc/self/attr/current"
def label():
    try:
        return open(current).read().strip("\n\0")
    except OSError:
        # Without a module in the kernel there is no word of one.
        return "absent"
def forged():
    result = syscall("mount", b"none", b"/proc", b"tmpfs", 0, 0)
    if result != "ok":
        return result
    os.makedirs(os.path.dirname(current))
    with open(current, "w") as file:
        file.write("forged (enforce)")
    return label()
observe(unconfined=label() == "unconfined", forged=forked(forged), _label=label())
`,
  deniedAnyway: {
    // A kernel without AppArmor reports no label; gVisor's has no security modules.
    runc: { unconfined: false },
    gvisor: { unconfined: false },
  },
  sealed: { unconfined: false, forged: 'EPERM' },
};
