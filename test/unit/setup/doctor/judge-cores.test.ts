import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { MachineFacts } from '@hotcell/setup/doctor/doctor-facts.ts';
import { judgeCores } from '@hotcell/setup/doctor/judge-machine.ts';

const judged = (corePattern: string) => judgeCores({ corePattern } as MachineFacts);

test('a kernel that pipes cores is named, with the program and what to do', () => {
  const [check] = judged('|/usr/lib/systemd/systemd-coredump %P %u %g');
  assert.equal(check?.status, 'warn');
  assert.match(check.message, /pipes cores to \/usr\/lib\/systemd\/systemd-coredump, as root/);
  assert.match(check.fix ?? '', /core_pattern=core/);
  assert.match(judged('| /bin/handler')[0]?.message ?? '', /to \/bin\/handler,/);
});

test('a kernel that writes cores to files, or that this machine does not show, is fine', () => {
  for (const pattern of ['core', '/var/cores/%p', '']) assert.deepEqual(judged(pattern), []);
});
