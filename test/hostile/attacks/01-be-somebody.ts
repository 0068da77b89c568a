import { type Attack, python } from '../support/attack.ts';

export const attack: Attack = {
  lines: '1',
  tries: 'to be root, or a user or group of the host',
  code: python`
uids = os.getresuid() + os.getresgid()
observe(ownUid=min(uids) >= 10000 and len(set(uids)) == 1, nobody=65534 in uids, groups=len(set(os.getgroups()) - {os.getgid()}))
`,
  sealed: { ownUid: true, groups: 0 },
};
