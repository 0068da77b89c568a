import { type Attack, python } from '../support/attack.ts';

export const attack: Attack = {
  lines: '6',
  tries: 'to become root by setuid calls',
  code: python`
observe(uid=forked(lambda: tried(os.setuid, 0)), gid=forked(lambda: tried(os.setgid, 0)), groups=forked(lambda: tried(os.setgroups, [0])), uids=forked(lambda: tried(os.setresuid, 0, 0, 0)))
`,
  sealed: { uid: 'EPERM', gid: 'EPERM', groups: 'EPERM', uids: 'EPERM' },
};
