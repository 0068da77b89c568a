import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { command, must } from '@hotcell/setup/command.ts';
import { checkout } from '@hotcell/setup/settings/installation.ts';
import { z } from 'zod';
import { freePortBase } from '../support/free-port-base.ts';

/** An installation of this test's own whose cells a keeper makes. */
let home: string;
let portBase: number;
let id: string;

const hotcellWith = (env: Readonly<Record<string, string>>, ...words: string[]) =>
  command([join(checkout, 'hotcell'), ...words], {
    env: { HOTCELL_HOME: home, HOTCELL_PORT_BASE: String(portBase), ...env },
  });
const hotcell = (...words: string[]) => hotcellWith({ HOTCELL_CELLS: 'keeper' }, ...words);

before(async () => {
  home = await mkdtemp(join(tmpdir(), 'hotcell-kept-'));
  for (let tries = 1; ; tries++) {
    portBase = await freePortBase();
    const { code, stderr } = await hotcell('up', '--yes');
    if (code === 0) break;
    assert.ok(tries < 5 && /is taken/.test(stderr), stderr);
  }
  id = z
    .object({ installation: z.string() })
    .parse(JSON.parse((await hotcell('status', '--json')).stdout)).installation;
});
after(async () => {
  await hotcell('down', '--purge', '--yes', '--quiet');
  await rm(home, { recursive: true, force: true });
});

const Inspected = z.array(
  z.object({
    Config: z.object({ Env: z.array(z.string()), User: z.string() }),
    HostConfig: z.object({ Privileged: z.boolean(), NetworkMode: z.string(), CapAdd: z.array(z.string()).nullable() }),
    State: z.object({ Pid: z.int() }),
    Mounts: z.array(z.object({ Source: z.string(), Destination: z.string() })),
  }),
);
async function container(service: string) {
  const [one] = Inspected.parse(JSON.parse(await must(['docker', 'inspect', `hotcell-${id}-${service}-1`])));
  assert.ok(one);
  return one;
}

async function withPosture(run: string): Promise<string> {
  const key = readFileSync(join(home, 'credentials'), 'utf8').trim();
  const headers = { authorization: `Bearer ${key}` };
  return await (await fetch(`http://127.0.0.1:${portBase}/v1/runs/${run}?include=posture`, { headers })).text();
}

test('a run executes in a cell of the keeper’s', async () => {
  const { code, stdout, stderr } = await hotcell('run', '-e', 'print(6 * 7)', '--json');
  assert.equal(code, 0, stderr);
  const lines = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  const log = lines.filter(({ type }) => type === 'log').map(({ text }) => String(text));
  assert.equal(log.join(''), '42\n');
  assert.match(JSON.stringify(lines.at(-1)), /"maker":"keeper"/);
  const { result } = z.object({ result: z.object({ run: z.string() }) }).parse(lines.at(-1));
  // `up` as root separates the versions of cgroups, so crun works on every host of these tests.
  assert.match(await withPosture(result.run), /"runtime":"crun /);
});

test('an input is in the cell', async () => {
  const { code, stdout, stderr } = await hotcell(
    'run',
    '-e',
    'print(open("/inputs/data/sales.csv").readline())',
    '--policy',
    'analytics',
    '--input',
    `data=${join(checkout, 'clients/cli/demo/sales.csv')}`,
  );
  assert.equal(code, 0, stderr);
  assert.match(stdout, /region/);
});

test('the worker has no engine’s socket and no right on its host, and the keeper neither a network nor a key', async () => {
  const worker = await container('executor-worker');
  assert.equal(worker.HostConfig.Privileged, false);
  assert.deepEqual(worker.HostConfig.CapAdd ?? [], []);
  const status = readFileSync(`/proc/${worker.State.Pid}/status`, 'utf8');
  const said = (name: string) => new RegExp(`^${name}:\\s+(.*)$`, 'm').exec(status)?.[1];
  for (const set of ['CapInh', 'CapPrm', 'CapEff', 'CapBnd', 'CapAmb']) assert.match(said(set) ?? '', /^0+$/, set);
  for (const ids of ['Uid', 'Gid']) assert.doesNotMatch(said(ids) ?? '0', /(^|\s)0(\s|$)/, ids);
  assert.ok(!worker.Mounts.some(({ Source }) => /docker\.sock|containerd/.test(Source)));
  const keeper = await container('keeper');
  assert.equal(keeper.HostConfig.NetworkMode, 'none');
  assert.ok(!keeper.Mounts.some(({ Source }) => /docker\.sock|secrets|\/keys/.test(Source)));
  const names = keeper.Config.Env.map((entry) => entry.split('=')[0] ?? '').filter((name) =>
    name.startsWith('HOTCELL_'),
  );
  assert.deepEqual(names.toSorted(), ['HOTCELL_INSTALLATION', 'HOTCELL_KEEPER_MEMORY_BYTES']);
});

test('inputs that a worker staged as root serve the worker without root, and the other way round', async () => {
  const read = ['run', '-e', 'print(len(open("/inputs/data/sales.csv").read()))', '--quiet', '--policy', 'analytics'];
  const size = String(readFileSync(join(checkout, 'clients/cli/demo/sales.csv')).length);
  const frozen = await hotcell('snapshot', 'create', join(checkout, 'clients/cli/demo'), '--name', 'demo', '--json');
  assert.equal(frozen.code, 0, frozen.stderr);
  for (const cells of ['engine', 'keeper']) {
    const changed = await hotcellWith({ HOTCELL_CELLS: cells }, 'up', '--yes');
    assert.equal(changed.code, 0, changed.stderr);
    const { Mounts } = await container('executor-worker');
    assert.equal(
      Mounts.some(({ Source }) => Source.endsWith('docker.sock')),
      cells === 'engine',
    );
    const { code, stdout, stderr } = await hotcell(...read, '--input', 'data=demo');
    assert.deepEqual([code, stdout.trim()], [0, size], `${cells}: ${stderr}`);
  }
});

test('down ends the keeper’s cells and leaves no cgroup', async () => {
  assert.equal((await hotcell('down', '--purge', '--yes')).code, 0);
  assert.ok(!existsSync(home));
  for (const place of ['/sys/fs/cgroup', '/sys/fs/cgroup/memory', '/sys/fs/cgroup/pids'])
    assert.ok(!existsSync(join(place, 'hotcell', id)));
});
