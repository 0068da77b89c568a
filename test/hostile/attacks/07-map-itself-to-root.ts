import { type Attack, python } from '../support/attack.ts';

export const attack: Attack = {
  lines: '7',
  tries: 'to map its uid to root’s, in a user namespace of its own',
  code: python`
def map_itself():
    outside = os.getuid()
    result = syscall("unshare", 0x10000000)
    if result != "ok":
        return result
    with open("/proc/self/uid_map", "w") as file:
        file.write("0 %d 1" % outside)
    return "root" if os.getuid() == 0 else "nobody"
# There is no user namespace around a cell: its uids are the host's. Reported, and told by the posture.
observe(mapped=forked(map_itself), _map=" ".join(open("/proc/self/uid_map").read().split()))
`,
  sealed: { mapped: 'EPERM' },
};
