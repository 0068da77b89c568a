import assert from 'node:assert/strict';
import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { command, must } from '@hotcell/setup/command.ts';
import { Buckets } from '@hotcell/record/buckets.ts';
import { checkout, findInstallation, placesIn } from '@hotcell/setup/settings/installation.ts';
import { z } from 'zod';
import { until } from '../support/until.ts';
import { freePortBase } from '../support/free-port-base.ts';

/** An installation of this test's own, made and removed on the command line as a person would. */
let home: string;
let portBase: number;

async function hotcell(words: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const own = { HOTCELL_HOME: home, HOTCELL_PORT_BASE: String(portBase) };
  return await command([join(checkout, 'hotcell'), ...words], { env: { ...own, ...env } });
}

const Status = z.object({
  installation: z.string(),
  url: z.string(),
  madeBy: z.object({ way: z.string(), why: z.string() }),
  services: z.array(z.object({ name: z.string(), state: z.string(), health: z.string() })),
});

const Shown = z.looseObject({
  status: z.string(),
  attempts: z.array(z.looseObject({ error: z.looseObject({ code: z.string() }).optional() })).optional(),
});

const Container = z.object({
  Name: z.string(),
  Config: z.object({
    User: z.string(),
    Env: z.array(z.string()),
    Labels: z.record(z.string(), z.string()),
  }),
  HostConfig: z.object({
    ReadonlyRootfs: z.boolean(),
    Privileged: z.boolean(),
    CapDrop: z.array(z.string()).nullable(),
    Memory: z.number(),
    PidsLimit: z.number().nullable(),
    NanoCpus: z.number(),
    RestartPolicy: z.object({ Name: z.string() }),
    PortBindings: z.record(z.string(), z.array(z.object({ HostIp: z.string(), HostPort: z.string() })).nullable()),
  }),
  Mounts: z.array(z.object({ Source: z.string(), Destination: z.string() })),
});

const serviceOf = ({ Config }: z.infer<typeof Container>) => Config.Labels['com.docker.compose.service'] ?? '';

async function status() {
  const { stdout, stderr, code } = await hotcell(['status', '--json']);
  assert.equal(code, 0, stderr);
  return Status.parse(JSON.parse(stdout));
}

const ofService = 'label=hotcell.role=service';

async function containersOf(id: string, ...more: string[]): Promise<string[]> {
  const filters = [`label=hotcell.installation=${id}`, ...more].flatMap((filter) => ['--filter', filter]);
  const listed = await must(['docker', 'ps', '--all', '--quiet', ...filters]);
  return listed.split('\n').filter((line) => line !== '');
}

before(async () => {
  home = await mkdtemp(join(tmpdir(), 'hotcell-up-'));
  // Another process may take the port after the check: then `up` says so, and another port is chosen.
  for (let tries = 1; ; tries++) {
    portBase = await freePortBase();
    const { code, stderr } = await hotcell(['up', '--yes']);
    if (code === 0) return;
    assert.ok(tries < 5 && /is taken/.test(stderr), stderr);
  }
});

after(async () => {
  await hotcell(['down', '--purge', '--yes', '--quiet']);
  await rm(home, { recursive: true, force: true });
});

describe('an installation that is up', () => {
  test('runs all its services and says so', async () => {
    const { services, url } = await status();
    assert.equal(url, `http://127.0.0.1:${portBase}`);
    assert.deepEqual(
      services.map(({ name, state, health }) => [name, state, health]),
      ['valkey', 'store', 'producer', 'keeper', 'executor-worker', 'notary'].map((name) => [
        name,
        'running',
        'healthy',
      ]),
    );
  });

  test('says that a keeper makes its cells, and why', async () => {
    const { madeBy } = await status();
    assert.equal(madeBy.way, 'keeper');
    assert.match(madeBy.why, /Linux/);
    assert.match((await hotcell(['doctor'])).stdout, /the keeper makes them, because .*: crun/);
  });

  test('runs a job and exits with its exit code', async () => {
    const { code, stdout, stderr } = await hotcell(['run', '-e', 'print(6 * 7); raise SystemExit(3)']);
    assert.equal(stdout, '42\n', stderr);
    assert.equal(code, 3);
  });

  test('shows what its services log', async () => {
    const { code, stdout } = await hotcell(['service', 'logs', 'producer', '--tail', '50']);
    assert.equal(code, 0);
    assert.match(stdout, /^\{"level".*"msg":"the producer answers"/m);
    const wrong = await hotcell(['service', 'logs', 'producter']);
    assert.equal(wrong.code, 1);
    assert.match(wrong.stderr, /Did you mean producer/);
  });

  test('is not changed by another up', async () => {
    const services = async () => (await containersOf((await status()).installation, ofService)).toSorted();
    const before = await services();
    const { code, stderr } = await hotcell(['up']);
    assert.equal(code, 0, stderr);
    assert.deepEqual(await services(), before);
  });

  test('is not disturbed by another installation that wants its ports, which is told who has them', async () => {
    const other = await mkdtemp(join(tmpdir(), 'hotcell-other-'));
    try {
      const { code, stdout, stderr } = await hotcell(['up', '--yes'], { HOTCELL_HOME: other });
      assert.equal(code, 1);
      assert.equal(stdout, '');
      const { installation } = await status();
      assert.match(stderr, new RegExp(`port ${portBase / 10}[012] is taken by container hotcell-${installation}-`));
    } finally {
      await hotcell(['down', '--purge', '--yes', '--quiet'], { HOTCELL_HOME: other });
      await rm(other, { recursive: true, force: true });
    }
  });
});

describe('the services of an installation', () => {
  let containers: z.infer<typeof Container>[];
  before(async () => {
    const ids = await containersOf((await status()).installation, ofService);
    containers = z.array(Container).parse(JSON.parse(await must(['docker', 'inspect', ...ids])));
    assert.equal(containers.length, 6);
  });

  test('listen only on the loopback', () => {
    const bindings = containers.flatMap(({ HostConfig }) => Object.values(HostConfig.PortBindings).flat());
    assert.equal(bindings.length, 3);
    for (const binding of bindings) assert.equal(binding?.HostIp, '127.0.0.1');
  });

  test('do not have the engine’s socket', () => {
    for (const { Name, Mounts } of containers)
      assert.ok(!Mounts.some(({ Source }) => Source.endsWith('docker.sock')), Name);
  });

  test('cannot write their root or exhaust the machine', () => {
    for (const { HostConfig, Name } of containers) {
      assert.ok(HostConfig.ReadonlyRootfs && HostConfig.Memory > 0 && (HostConfig.PidsLimit ?? 0) > 0, Name);
      assert.equal(HostConfig.RestartPolicy.Name, 'unless-stopped', Name);
    }
  });

  test('have no right and are not root, except for the keeper', () => {
    for (const { HostConfig, Config, Name } of containers.filter((one) => serviceOf(one) !== 'keeper')) {
      assert.ok(!HostConfig.Privileged && HostConfig.NanoCpus > 0, Name);
      assert.deepEqual(HostConfig.CapDrop, ['ALL'], Name);
      assert.doesNotMatch(Config.User, /^(0|root)?(:|$)/, Name);
    }
  });

  test('have no secret in their environment', async () => {
    const { secrets } = placesIn(home);
    const files = (await readdir(secrets)).filter((name) => /key|password/.test(name));
    assert.ok(files.length >= 7);
    const values = await Promise.all(files.map((name) => readFile(join(secrets, name), 'utf8')));
    values.push(...(await readFile(join(secrets, 'store-root'), 'utf8')).trim().split('\n'));
    assert.ok(values.every((value) => value.trim().length > 8));
    for (const { Config, Name } of containers)
      for (const value of values) assert.ok(!Config.Env.some((pair) => pair.includes(value.trim())), Name);
  });
});

test('down says which runs are active; they are handed back, and begin again after up', async () => {
  const { stdout, stderr } = await hotcell([
    'submit',
    '--lang',
    'bash',
    '-e',
    'echo begun; sleep 600',
    '--timeout',
    '600',
  ]);
  const run = stdout.trim();
  assert.notEqual(run, '', stderr);
  const shown = async () => Shown.parse(JSON.parse((await hotcell(['show', run, '--json'])).stdout));
  // A worker reports what it runs every two seconds.
  await until('its worker reports it', async () => (await hotcell(['workers', 'ls', '--json'])).stdout.includes(run));
  await until('the run is running', async () => (await shown()).status === 'running');
  const stopped = await hotcell(['down']);
  assert.equal(stopped.code, 0, stopped.stderr);
  assert.match(stopped.stderr, /1 run is active\. It has 20 s to end/);
  assert.equal((await hotcell(['up'])).code, 0);
  await until('the run is running again', async () => (await shown()).status === 'running');
  assert.equal((await hotcell(['cancel', run])).code, 0);
  assert.equal((await hotcell(['wait', run])).code, 130);
  const { attempts } = await shown();
  assert.deepEqual(
    attempts?.map(({ error }) => error?.code),
    ['draining', undefined],
  );
});

test('down --purge asks first: a script must say --yes, and a person types the id', async () => {
  const { installation } = await status();
  const refused = await hotcell(['down', '--purge']);
  assert.equal(refused.code, 1);
  assert.match(
    refused.stderr,
    /would remove installation \w+ in .* with \d+ runs? and \d+ snapshots?\. Nothing was removed/,
  );
  const program = `${join(checkout, 'hotcell')} down --purge`;
  const typed = `printf 'something else\\n' | script -qefc '${program}' /dev/null`;
  const { stdout } = await command(['sh', '-c', typed], {
    env: { HOTCELL_HOME: home, HOTCELL_PORT_BASE: String(portBase) },
  });
  assert.match(stdout, new RegExp(`Type ${installation} to remove it`));
  assert.match(stdout, new RegExp(`That is not ${installation}. Nothing was removed`));
  assert.equal((await status()).installation, installation);
});

/** In the record, for a day and against everyone. */
async function lockSomething(): Promise<void> {
  const found = await findInstallation({ HOTCELL_HOME: home });
  assert.ok(found);
  using store = new Buckets(found.store);
  const lock = { mode: 'COMPLIANCE', until: new Date(Date.now() + 24 * 3600_000) } as const;
  const { versionId } = await store.put(store.record, 'runs/locked', 'locked', { lock });
  await assert.rejects(store.delete(store.record, 'runs/locked', versionId), { code: 'forbidden' });
}

test('down --purge leaves nothing, locked or not, and removes no image that another installation uses', async () => {
  const { installation } = await status();
  await lockSomething();
  const held = await must(['docker', 'image', 'ls', '--quiet', 'hotcell/store']);
  const { code, stderr } = await hotcell(['down', '--purge', '--yes']);
  assert.equal(code, 0, stderr);
  assert.deepEqual(await containersOf(installation), []);
  const label = `label=hotcell.installation=${installation}`;
  assert.equal(await must(['docker', 'network', 'ls', '--quiet', '--filter', label]), '');
  assert.equal(await must(['docker', 'volume', 'ls', '--quiet', '--filter', label]), '');
  assert.equal(
    await must(['docker', 'image', 'ls', '--quiet', '--filter', `reference=hotcell/*:in-${installation}`]),
    '',
  );
  assert.equal(await must(['docker', 'image', 'ls', '--quiet', 'hotcell/store']).then(firstOf), firstOf(held));
  await assert.rejects(stat(home), { code: 'ENOENT' });
});

const firstOf = (listed: string) => listed.split('\n')[0];
