import { type Attack, python } from '../support/attack.ts';

export const attack: Attack = {
  lines: '69',
  tries: 'to find what an earlier run left in scratch',
  code: python`
# The earlier run wrote a canary wherever it could: see support/canary.py.
found = []
for top in ("/work", "/tmp", "/dev/shm", "/outputs", "/var/tmp", "/run"):
    for folder, _, names in os.walk(top):
        found += [one for one in names if one.startswith("canary")]
observe(found=len(found) > 0)
`,
  sealed: { found: false },
};
