import { type Attack, python } from '../support/attack.ts';

export const attack: Attack = {
  lines: '34',
  tries: 'to find a network interface or a route',
  code: python`
import fcntl, struct
SIOCGIFNAME = 0x8910
names = set()
ask = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for index in range(1, 512):
    try:
        found = fcntl.ioctl(ask, SIOCGIFNAME, struct.pack("16si20x", b"", index))
    except OSError:
        continue
    names.add(found[:16].rstrip(b"\0").decode())
for line in open("/proc/net/dev").read().splitlines()[2:]:
    names.add(line.split(":")[0].strip())
try:
    routes = len(open("/proc/net/route").read().splitlines()) - 1
except OSError:
    routes = 0
observe(more=len(names - {"lo"}) > 0, routes=routes > 0, _names=sorted(names))
`,
  sealed: { more: false, routes: false },
};
