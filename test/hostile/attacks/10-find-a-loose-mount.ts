import { type Attack, python } from '../support/attack.ts';

export const attack: Attack = {
  lines: '10',
  tries: 'to find a mount that is writable and honours devices or setuid',
  code: python`
known = {"/work", "/outputs", "/tmp", "/dev/shm"}
loose, foreign = set(), set()
for line in open("/proc/self/mountinfo"):
    point = line.split()[4]
    if not os.access(point, os.W_OK) or not os.path.isdir(point):
        continue
    if point not in known:
        foreign.add(point)
    # By what they do rather than by their flags, which not every kernel lists.
    probe = os.path.join(point, "probe-%d" % os.getpid())
    if tried(os.mknod, probe, 0o20666, os.makedev(1, 3)) == "ok":
        if opened(probe) == "ok":
            loose.add(point)
        os.unlink(probe)
observe(foreign=len(foreign) > 0, devices=len(loose) > 0, _foreign=sorted(foreign))
`,
  sealed: { foreign: false, devices: false },
};
