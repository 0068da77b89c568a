import { type Attack, python } from '../support/attack.ts';

export const attack: Attack = {
  lines: '2',
  tries: 'to have a capability in any of the five sets',
  code: python`
# PR_CAPBSET_READ and PR_CAP_AMBIENT_IS_SET: by the system call, whatever /proc says.
bounding = sum(libc.prctl(23, cap, 0, 0, 0) == 1 for cap in range(41))
header = (ctypes.c_uint32 * 2)(0x20080522, 0)
sets = (ctypes.c_uint32 * 6)()
libc.capget(header, sets)
observe(bounding=bounding, held=sum(bin(word).count("1") for word in sets))
`,
  sealed: { bounding: 0, held: 0 },
};
