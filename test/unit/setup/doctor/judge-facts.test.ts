import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Facts } from '@hotcell/setup/doctor/doctor-facts.ts';
import { isHealthy, judgeFacts } from '@hotcell/setup/doctor/judge-facts.ts';
import { runscFlags, withRunsc } from '@hotcell/setup/engine/daemon-json.ts';
import type { EngineInfo } from '@hotcell/setup/engine/info.ts';

const gib = 1024 ** 3;

const engine: EngineInfo = {
  version: '29.5.1',
  operatingSystem: 'Debian GNU/Linux 13 (trixie)',
  kernel: '6.12.48+deb13-amd64',
  root: '/var/lib/docker',
  cpus: 4,
  memoryBytes: 16 * gib,
  rootless: false,
  runtimes: ['io.containerd.runc.v2', 'runc', 'runsc'],
  cgroupVersion: '2',
  unbounded: [],
  runc: '1.3.3',
  clockSkewMs: 12,
};

/** A Debian server where everything runs. */
const well: Facts = {
  tools: {
    platform: 'linux',
    distribution: { id: 'debian', codename: 'trixie' },
    root: true,
    systemd: true,
    endpoint: 'unix:///var/run/docker.sock',
    answers: true,
    refusal: '',
    dockerd: true,
    compose: true,
    composeVersion: '2.26.1-4',
    buildx: true,
    buildxVersion: 'github.com/docker/buildx 0.13.1+ds1 0.13.1+ds1-3',
    runsc: true,
    mmdebstrap: true,
    daemonJson: withRunsc(undefined),
    halfInstalled: false,
  },
  node: '24.21.0',
  arch: 'x64',
  engine,
  runscVersion: 'runsc version release-20260915.0',
  corePattern: 'core',
  disk: [{ path: '/srv/hotcell', freeBytes: 60 * gib }],
  memory: { totalBytes: 16 * gib, availableBytes: 12 * gib },
  now: '2026-11-18T12:00:00.000Z',
  ports: [
    { port: 7411, service: 'producer', state: 'ours' },
    { port: 7412, service: 'store', state: 'ours' },
    { port: 7413, service: 'valkey', state: 'ours' },
  ],
  imagesMissing: [],
  installation: {
    id: 'abc123',
    home: '/srv/hotcell',
    running: ['valkey', 'store', 'producer', 'executor-worker', 'notary'],
    unwell: [],
    expected: ['valkey', 'store', 'producer', 'executor-worker', 'notary'],
  },
  flaggedView: { path: '/srv/hotcell/worker/cache', there: true },
  store: '',
  queue: '',
  sharedKeys: [],
  cells: { way: 'engine', why: 'HOTCELL_CELLS says so' },
};

/** A machine without an engine. */
const bare: Facts = {
  ...well,
  tools: {
    ...well.tools,
    answers: false,
    refusal: 'Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?',
    dockerd: false,
    compose: false,
    composeVersion: '',
    buildx: false,
    buildxVersion: '',
    runsc: false,
    daemonJson: undefined,
  },
  engine: undefined,
  runscVersion: '',
  corePattern: '',
  installation: undefined,
  flaggedView: undefined,
  store: undefined,
  queue: undefined,
};

const withTools = (facts: Facts, tools: Partial<Facts['tools']>): Facts => ({
  ...facts,
  tools: { ...facts.tools, ...tools },
});
const withEngine = (changes: Partial<EngineInfo>): Facts => ({ ...well, engine: { ...engine, ...changes } });

function only(facts: Facts, name: string, status: 'ok' | 'warn' | 'fail') {
  const found = judgeFacts(facts).filter((check) => check.name === name && check.status === status);
  assert.equal(found.length, 1, `one ${status} about ${name} in ${JSON.stringify(judgeFacts(facts), null, 1)}`);
  return found[0] as (typeof found)[0];
}

describe('doctor', () => {
  test('finds nothing wrong where everything runs', () => {
    assert.deepEqual(
      judgeFacts(well).filter((check) => check.status !== 'ok'),
      [],
    );
    assert.ok(isHealthy(judgeFacts(well)));
  });

  test('names a command for everything that is not ok', () => {
    for (const facts of [bare, withEngine({ runc: '1.1.5', version: '26.1.5', rootless: true })])
      for (const check of judgeFacts(facts))
        if (check.status !== 'ok') assert.ok(check.fix, `${check.name}: ${check.message}`);
  });

  test('on a bare Debian, root can let doctor repair it', () => {
    assert.match(only(bare, 'engine', 'fail').fix ?? '', /doctor --fix/);
    assert.equal(isHealthy(judgeFacts(bare)), false);
  });

  test('on a bare Debian without root, the fix names sudo', () => {
    assert.match(only(withTools(bare, { root: false }), 'engine', 'fail').fix ?? '', /sudo \.\/hotcell doctor --fix/);
  });

  test('on a Mac the fix names Colima and Docker Desktop', () => {
    const mac = withTools(bare, { platform: 'darwin', root: false, distribution: { id: '', codename: '' } });
    assert.match(only(mac, 'engine', 'fail').fix ?? '', /[Cc]olima/);
  });

  test('a forbidden socket and a stopped engine are different findings', () => {
    const refusal =
      'permission denied while trying to connect to the Docker daemon socket at unix:///var/run/docker.sock';
    const check = only(withTools(bare, { root: false, dockerd: true, refusal }), 'engine', 'fail');
    assert.match(check.message, /permission denied/);
    assert.match(check.fix ?? '', /usermod -aG docker/);
  });

  test('an engine that is installed but stopped has to be started', () => {
    const ubuntu = withTools(bare, { root: false, dockerd: true, distribution: { id: 'ubuntu', codename: 'noble' } });
    const check = only(ubuntu, 'engine', 'fail');
    assert.match(check.message, /not running/);
    assert.match(check.fix ?? '', /systemctl enable --now docker/);
  });

  test('an engine older than 25 is too old', () => {
    assert.match(only(withEngine({ version: '20.10.24+dfsg1' }), 'engine', 'fail').message, /too old/);
  });

  test('an engine on another machine cannot mount what is staged on this one', () => {
    assert.match(
      only(withTools(well, { endpoint: 'tcp://10.0.0.7:2376' }), 'engine', 'fail').message,
      /another machine/,
    );
  });

  test('a chosen engine that does not answer is named', () => {
    const check = only(withTools(bare, { endpoint: 'unix:///home/a/.colima/docker.sock' }), 'engine', 'fail');
    assert.match(check.message, /colima/);
    assert.match(check.fix ?? '', /docker context use default/);
  });

  test('a rootless engine is a warning that says what it cannot do', () => {
    assert.match(only(withEngine({ rootless: true }), 'engine kind', 'warn').message, /rootless/);
  });

  test('Docker Desktop is a warning that says what it cannot do', () => {
    const check = only(withEngine({ operatingSystem: 'Docker Desktop' }), 'engine kind', 'warn');
    assert.match(check.message, /nosuid,nodev,noexec/);
  });

  test('Colima is a warning that says what it cannot do, and where the checkout must be', () => {
    const colima = withTools(well, { platform: 'darwin', endpoint: 'unix:///home/a/.colima/default/docker.sock' });
    assert.match(only(colima, 'engine kind', 'warn').message, /home folder.*gVisor.*nosuid,nodev,noexec/);
  });

  test('an engine that cannot limit memory is a failure', () => {
    assert.match(only(withEngine({ unbounded: ['memory'] }), 'limits', 'fail').message, /memory/);
  });

  for (const [runc, status] of [
    ['1.1.5+ds1', 'warn'],
    ['1.2.7', 'warn'],
    ['1.2.8', 'ok'],
    ['1.3.2', 'warn'],
    ['1.3.3', 'ok'],
    ['1.4.0-rc.3', 'ok'],
    ['', 'warn'],
  ] as const)
    test(`runc ${runc || 'of no version'} is ${status} about container escapes`, () => {
      const check = only(withEngine({ runc }), 'runc', status);
      if (status === 'warn') assert.match(check.message, /CVE-2025-31133/);
    });

  test('an engine without the fixes of docker cp is a warning', () => {
    assert.match(only(withEngine({ version: '26.1.5+dfsg1' }), 'engine fixes', 'warn').message, /29\.5\.1/);
  });

  test('unregistered gVisor is a warning', () => {
    assert.match(only(withEngine({ runtimes: ['runc'] }), 'gVisor', 'warn').fix ?? '', /doctor --fix/);
  });

  test('gVisor registered without its flags is a failure', () => {
    const weak = JSON.stringify({ runtimes: { runsc: { path: '/usr/bin/runsc', runtimeArgs: runscFlags.slice(1) } } });
    only(withTools(well, { daemonJson: weak }), 'gVisor', 'fail');
  });

  test('a compose plugin that is missing or old is a failure', () => {
    assert.match(only(withTools(well, { compose: false }), 'compose', 'fail').message, /missing/);
    assert.match(only(withTools(well, { composeVersion: '2.17.3' }), 'compose', 'fail').message, /too old/);
  });

  for (const [free, status] of [
    [1.9 * gib, 'fail'],
    [9 * gib, 'warn'],
    [11 * gib, 'ok'],
  ] as const)
    test(`${free / gib} GiB of free disk is ${status}`, () => {
      only({ ...well, disk: [{ path: '/srv', freeBytes: free }] }, 'disk', status);
    });

  test('too little memory is a failure, too little left is a warning', () => {
    only({ ...well, memory: { totalBytes: gib, availableBytes: gib } }, 'memory', 'fail');
    only({ ...well, memory: { totalBytes: 16 * gib, availableBytes: gib } }, 'memory', 'warn');
    only(withEngine({ memoryBytes: gib }), 'memory', 'fail');
  });

  test('a taken port is named with the program that has it', () => {
    const holder = 'port 7412 is taken by process 4711 (python3 -m http.server)';
    const ports: Facts['ports'] = [{ port: 7412, service: 'store', state: 'taken', holder }];
    assert.match(only({ ...well, ports }, 'ports', 'fail').message, /process 4711 \(python3/);
  });

  test('clocks that differ are reported, and a clock that was never set', () => {
    only(withEngine({ clockSkewMs: -9_000 }), 'clock', 'warn');
    only(withEngine({ clockSkewMs: 120_000 }), 'clock', 'fail');
    only({ ...well, now: '1970-01-01T00:03:00.000Z' }, 'clock', 'fail');
  });

  test('missing images and stopped services are warnings: up fixes both', () => {
    const fresh: Facts = {
      ...well,
      imagesMissing: ['python'],
      installation: undefined,
      store: undefined,
      queue: undefined,
    };
    for (const name of ['images', 'services', 'store', 'queue'])
      assert.match(only(fresh, name, 'warn').fix ?? '', /hotcell up/);
    assert.ok(isHealthy(judgeFacts(fresh)));
  });

  test('an unhealthy service is a failure that says where to look', () => {
    const installation = { ...(well.installation as NonNullable<Facts['installation']>), unwell: ['producer'] };
    assert.match(
      only({ ...well, installation }, 'services', 'fail').fix ?? '',
      /docker logs hotcell-abc123-producer-1/,
    );
  });

  test('what the probe says of store and queue is passed on', () => {
    only({ ...well, store: 'the bucket has no Object Lock' }, 'store', 'fail');
    assert.match(only({ ...well, queue: 'maxmemory-policy: is allkeys-lru' }, 'queue', 'fail').message, /allkeys-lru/);
  });

  test('inputs without mount flags are a warning that names the command to add them', () => {
    const flaggedView = { path: '/srv/hotcell/worker/cache', there: false };
    assert.match(
      only({ ...well, flaggedView }, 'inputs', 'warn').fix ?? '',
      /mount -o remount,bind,nosuid,nodev,noexec/,
    );
  });

  test('processes that share the operator’s keys to an external store are named', () => {
    assert.match(only({ ...well, sharedKeys: ['worker'] }, 'store accounts', 'warn').message, /worker/);
  });
});
