import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { HotcellError } from '@hotcell/contract/errors.ts';
import { registersRunsc, runscFlags, withRunsc } from '@hotcell/setup/engine/daemon-json.ts';
import { distributionOf, type EngineFacts } from '@hotcell/setup/engine/engine-facts.ts';
import { mirrorOf } from '@hotcell/setup/engine/packages.ts';
import { planEngine } from '@hotcell/setup/engine/engine-plan.ts';

const bare: EngineFacts = {
  platform: 'linux',
  distribution: { id: 'debian', codename: 'bookworm' },
  root: true,
  systemd: false,
  endpoint: '',
  answers: false,
  refusal: 'docker: not found',
  dockerd: false,
  compose: false,
  composeVersion: '',
  buildx: false,
  buildxVersion: '',
  runsc: false,
  mmdebstrap: false,
  daemonJson: undefined,
  halfInstalled: false,
};
const installed: EngineFacts = {
  ...bare,
  answers: true,
  refusal: '',
  dockerd: true,
  compose: true,
  buildx: true,
  runsc: true,
  mmdebstrap: true,
  daemonJson: withRunsc(undefined),
};
const kinds = (facts: EngineFacts) => planEngine(facts).map((step) => step.kind);

describe('the plan for an engine', () => {
  test('on a bare bookworm adds the newer suites, installs, registers gVisor and starts', () => {
    assert.deepEqual(kinds(bare), ['add-sources', 'install', 'register-runsc', 'start']);
    const install = planEngine(bare).find((step) => step.kind === 'install');
    assert.ok(install?.packages.includes('docker.io/trixie'));
    assert.ok(install?.packages.includes('runsc/bookworm-backports'));
  });

  test('on a bare trixie needs no other suite', () => {
    const trixie = { ...bare, distribution: { id: 'debian', codename: 'trixie' } };
    assert.deepEqual(kinds(trixie), ['install', 'register-runsc', 'start']);
  });

  test('is empty if nothing is missing', () => {
    assert.deepEqual(planEngine(installed), []);
  });

  test('only starts an engine that is installed but stopped', () => {
    assert.deepEqual(kinds({ ...installed, answers: false }), ['start']);
  });

  test('first finishes an interrupted package installation', () => {
    assert.equal(kinds({ ...bare, halfInstalled: true })[0], 'repair-packages');
  });

  test('adds gVisor to an engine that runs without disturbing it', () => {
    const without = { ...installed, runsc: false, daemonJson: '{"log-level":"warn"}' };
    assert.deepEqual(kinds(without), ['add-sources', 'install', 'register-runsc']);
  });

  test('leaves the engine of another distribution as it is', () => {
    assert.deepEqual(planEngine({ ...installed, distribution: { id: 'fedora', codename: '' }, runsc: false }), []);
  });

  for (const [what, facts, says] of [
    ['without root', { ...bare, root: false }, /sudo \.\/hotcell doctor --fix/],
    ['on a Mac', { ...bare, platform: 'darwin', root: false, distribution: { id: '', codename: '' } }, /colima/i],
    [
      'with a forbidden socket',
      { ...bare, root: false, refusal: 'permission denied while trying to connect' },
      /docker group/,
    ],
    [
      'with another engine chosen',
      { ...bare, endpoint: 'tcp://10.0.0.7:2376' },
      /10\.0\.0\.7.*docker context use default/,
    ],
    ['on Fedora as root', { ...bare, distribution: { id: 'fedora', codename: '' } }, /your distribution/],
  ] as const)
    test(`${what} there is none, and the error says what to do`, () => {
      assert.throws(
        () => planEngine(facts),
        (error: unknown) =>
          error instanceof HotcellError && error.code === 'engine_unavailable' && says.test(error.message),
      );
    });
});

describe("the engine's daemon.json", () => {
  test('gets gVisor with every flag and keeps everything else', () => {
    const before = JSON.stringify({ 'log-driver': 'journald', runtimes: { crun: { path: '/usr/bin/crun' } } });
    const after = JSON.parse(withRunsc(before));
    assert.equal(after['log-driver'], 'journald');
    assert.deepEqual(after.runtimes.crun, { path: '/usr/bin/crun' });
    assert.deepEqual(after.runtimes.runsc.runtimeArgs, runscFlags);
  });

  test('without one of the flags does not count as registered', () => {
    assert.ok(registersRunsc(withRunsc(undefined)));
    const weak = { runtimes: { runsc: { path: '/usr/bin/runsc', runtimeArgs: runscFlags.slice(0, -1) } } };
    assert.equal(registersRunsc(JSON.stringify(weak)), false);
    assert.equal(registersRunsc(undefined), false);
  });

  test('is not overwritten if it is not JSON', () => {
    assert.throws(() => withRunsc('{ "runtimes": '), HotcellError);
  });
});

test('the distribution is read with and without quotes', () => {
  const text = 'PRETTY_NAME="Debian GNU/Linux 12 (bookworm)"\nID=debian\nVERSION_CODENAME="bookworm"\n';
  assert.deepEqual(distributionOf(text), { id: 'debian', codename: 'bookworm' });
  assert.deepEqual(distributionOf(''), { id: '', codename: '' });
});

test("the machine's own mirror is used for the newer suites", () => {
  assert.equal(
    mirrorOf('URIs: http://mirror.example/pub/debian\nSuites: bookworm\n'),
    'http://mirror.example/pub/debian',
  );
  assert.equal(mirrorOf('deb https://mirror.example/debian/ bookworm main\n'), 'https://mirror.example/debian');
  assert.equal(mirrorOf('URIs: http://mirror.example/debian-security\n'), 'http://deb.debian.org/debian');
});
