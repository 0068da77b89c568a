import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Facts } from '@hotcell/setup/doctor/doctor-facts.ts';
import { judgeCells } from '@hotcell/setup/doctor/judge-cells.ts';

type Cells = NonNullable<Facts['cells']>;
const about = {
  machine: 'x86_64',
  runtimes: { runc: 'crun 1.21', gvisor: 'runsc release-20260915.0' },
  cgroups: '2' as const,
  userNamespaces: true,
  boundsDisks: true,
};
const judged = (cells: Cells | undefined) => judgeCells({ cells } as Facts);
const kept = (change: Partial<typeof about> | { cgroups: '1' | 'mixed' }) =>
  judged({ way: 'keeper', why: 'this is Linux', keeper: { ...about, ...change } });
const concerns = (checks: ReturnType<typeof judged>) => checks.filter(({ status }) => status !== 'ok');

describe('what makes cells', () => {
  test('is not judged without an installation', () => assert.deepEqual(judged(undefined), []));
  test('is the engine, and doctor says why', () => {
    assert.match(judged({ way: 'engine', why: 'it is rootless' })[0]?.message ?? '', /the engine .* it is rootless/);
  });
  test('is the keeper with its programs and their versions', () => {
    assert.deepEqual(concerns(kept({})), []);
    const message = kept({})[0]?.message ?? '';
    for (const named of ['crun 1.21', 'runsc release-20260915.0', 'this is Linux'])
      assert.ok(message.includes(named), message);
  });
  test('is a failure if it is a keeper that does not answer, with its reason', () => {
    const [check] = judged({
      way: 'keeper',
      why: 'this is Linux',
      keeper: 'The keeper did not answer: connect ENOENT.',
    });
    assert.deepEqual([check?.status, check?.fix], ['fail', '`./hotcell up`']);
    assert.match(check?.message ?? '', /ENOENT/);
  });

  const lacking: Record<string, { change: Parameters<typeof kept>[0]; name: string; status: 'warn' | 'fail' }> = {
    'no crun and no runc': {
      change: { runtimes: { gvisor: about.runtimes.gvisor } as typeof about.runtimes },
      name: 'cells',
      status: 'fail',
    },
    'no runsc': { change: { runtimes: { runc: 'crun 1.21' } as typeof about.runtimes }, name: 'cells', status: 'warn' },
    'an old runsc': {
      change: { runtimes: { ...about.runtimes, gvisor: 'runsc 0.0~20240729.0' } },
      name: 'gVisor',
      status: 'warn',
    },
    'no user namespaces': { change: { userNamespaces: false }, name: 'user namespaces', status: 'warn' },
    'both versions of cgroups': { change: { cgroups: 'mixed' }, name: 'cgroups', status: 'warn' },
    'no bound on disks': { change: { boundsDisks: false }, name: 'disks', status: 'warn' },
  };
  for (const [what, { change, name, status }] of Object.entries(lacking))
    test(`is named when the host has ${what}, with what to do`, () => {
      const [check, ...others] = concerns(kept(change));
      assert.deepEqual([check?.name, check?.status, others], [name, status, []]);
      assert.ok(check?.fix);
    });
});
