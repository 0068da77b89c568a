import assert from 'node:assert/strict';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, test } from 'node:test';
import { Cgroups } from '@hotcell/keeper/cgroups.ts';

// A machine has one version only. These files stand for either: what is read and written where. What the kernel does with
// it, test/keeper tries on real cells.
const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

function files(all: Readonly<Record<string, string>>) {
  const mount = mkdtempSync(join(tmpdir(), 'cgroups-'));
  folders.push(mount);
  for (const [path, text] of Object.entries(all)) {
    mkdirSync(dirname(join(mount, path)), { recursive: true });
    writeFileSync(join(mount, path), text);
  }
  const at = (path: string) => (existsSync(join(mount, path)) ? readFileSync(join(mount, path), 'utf8') : undefined);
  return { mount, at };
}
const second = { 'cgroup.controllers': 'cpu memory pids', 'cgroup.procs': '' };
const first = { 'memory/cgroup.procs': '', 'pids/cgroup.procs': '', 'cpu,cpuacct/cgroup.procs': '', 'empty/x': '' };

function openFirst(more: Readonly<Record<string, string>> = {}) {
  const made = files({ ...first, ...more });
  symlinkSync('cpu,cpuacct', join(made.mount, 'cpu'));
  return { ...made, cgroups: new Cgroups(made.mount) };
}
function openSecond(more: Readonly<Record<string, string>> = {}) {
  const made = files({ ...second, ...more });
  return { ...made, cgroups: new Cgroups(made.mount) };
}

test('the version is what the host has, and a host that mixes both is known', () => {
  assert.deepEqual([openSecond().cgroups.version, openSecond().cgroups.isMixed], [2, false]);
  const [plain, idle, mixed] = [
    openFirst(),
    openFirst({ 'unified/cgroup.controllers': '\n' }),
    openFirst({ 'unified/cgroup.controllers': 'hugetlb\n' }),
  ];
  assert.deepEqual(
    [plain, idle, mixed].map(({ cgroups }) => [cgroups.version, cgroups.isMixed]),
    [
      [1, false],
      [1, false],
      [1, true],
    ],
  );
});

test('all cells together are limited in memory and processes', () => {
  const limits = { memoryBytes: 1 << 30, pids: 500 };
  const one = openFirst();
  one.cgroups.makeParent('/a/b', limits);
  assert.equal(one.at('memory/a/b/memory.limit_in_bytes'), String(1 << 30));
  assert.equal(one.at('pids/a/b/pids.max'), '500');
  assert.ok(existsSync(join(one.mount, 'cpu,cpuacct/a/b')), 'the place is there in every hierarchy');
  assert.ok(!existsSync(join(one.mount, 'empty/a')), 'a folder that is no hierarchy is left alone');

  const two = openSecond();
  two.cgroups.makeParent('/a/b', limits);
  assert.equal(two.at('a/b/memory.max'), String(1 << 30));
  assert.equal(two.at('a/b/pids.max'), '500');
  for (const above of ['', 'a/', 'a/b/']) assert.equal(two.at(`${above}cgroup.subtree_control`), '+memory +pids +cpu');
});

test('a cell’s memory is limited without swap, also where the kernel has no account of swap', () => {
  const one = openFirst({ 'memory/c/memory.memsw.limit_in_bytes': '' });
  one.cgroups.makeForMemory('/c', 4096);
  assert.equal(one.at('memory/c/memory.limit_in_bytes'), '4096');
  assert.equal(one.at('memory/c/memory.memsw.limit_in_bytes'), '4096');
  const two = openSecond();
  two.cgroups.makeForMemory('/c', 4096);
  assert.equal(two.at('c/memory.max'), '4096');
  assert.equal(two.at('c/memory.swap.max'), '0');
});

test('a name is reserved by one caller alone until it is given back', () => {
  for (const { cgroups } of [openFirst(), openSecond()]) {
    assert.equal(cgroups.reserve('/x'), true);
    assert.equal(cgroups.reserve('/x'), false);
    assert.equal(cgroups.release('/x'), true);
    assert.equal(cgroups.release('/x'), false);
    assert.equal(cgroups.reserve('/x'), true);
    assert.equal(cgroups.reserve('/nowhere/x'), false);
  }
});

test('the cgroups within one are named once, whatever hierarchies they are in', () => {
  const one = openFirst({ 'memory/p/a/tasks': '', 'pids/p/a/tasks': '', 'pids/p/b/tasks': '', 'pids/p/file': '' });
  assert.deepEqual(one.cgroups.within('/p').toSorted(), ['a', 'b']);
  assert.deepEqual(one.cgroups.within('/nothing'), []);
});

test('processes, kills and limits are read as the kernel shows them, and a cgroup that is gone has none', () => {
  const one = openFirst({
    'pids/c/cgroup.procs': '12\n345\n',
    'memory/c/memory.oom_control': 'oom_kill_disable 0\nunder_oom 0\noom_kill 3\n',
    'memory/c/memory.limit_in_bytes': '4096\n',
    'cpu,cpuacct/c/cpu.cfs_quota_us': '50000\n',
    'pids/c/pids.max': '64\n',
  });
  assert.deepEqual(one.cgroups.pids('/c'), [12, 345]);
  assert.equal(one.cgroups.memoryKills('/c'), 3);
  assert.deepEqual(one.cgroups.values('/c'), {
    'memory/memory.limit_in_bytes': '4096',
    'cpu/cpu.cfs_quota_us': '50000',
    'pids/pids.max': '64',
  });
  assert.deepEqual(
    [one.cgroups.pids('/gone'), one.cgroups.memoryKills('/gone'), one.cgroups.values('/gone')],
    [[], 0, {}],
  );
  const two = openSecond({ 'c/memory.events': 'oom 9\noom_kill 2\noom_group_kill 7\n', 'c/cpu.max': '50000 100000\n' });
  assert.equal(two.cgroups.memoryKills('/c'), 2);
  assert.deepEqual(two.cgroups.values('/c'), { 'cpu.max': '50000 100000' });
});

test('a cell that came to its own limit is told from one whose host ran out of memory', () => {
  const limited = (most: string) =>
    openFirst({ 'memory/c/memory.limit_in_bytes': '8388608\n', 'memory/c/memory.max_usage_in_bytes': most });
  assert.equal(limited('8388608\n').cgroups.memoryAtLimit('/c'), true);
  assert.equal(limited('7340032\n').cgroups.memoryAtLimit('/c'), true, 'a few pages below it');
  assert.equal(limited('7340031\n').cgroups.memoryAtLimit('/c'), false);
  assert.equal(openFirst().cgroups.memoryAtLimit('/gone'), true, 'what cannot be read is the cell’s own');
  const events = (text: string) => openSecond({ 'c/memory.events': text }).cgroups.memoryAtLimit('/c');
  assert.equal(events('max 4\noom 1\noom_kill 1\n'), true);
  assert.equal(events('max 4\noom 0\noom_kill 1\n'), false);
});

test('a cgroup is removed with those below it, in every hierarchy; one that is in use stays', () => {
  const one = openFirst();
  for (const at of ['memory/c/below', 'pids/c', 'cpu,cpuacct/c']) mkdirSync(join(one.mount, at), { recursive: true });
  assert.equal(one.cgroups.remove('/c'), true);
  assert.equal(one.cgroups.remove('/c'), true);
  mkdirSync(join(one.mount, 'pids/c'));
  // The kernel removes none that has processes; a file that is left has the same effect here.
  writeFileSync(join(one.mount, 'pids/c/busy'), '');
  assert.equal(one.cgroups.remove('/c'), false);
});

test('where nothing runs, everything has been killed; what does not end is reported in time', async () => {
  const two = openSecond({ 'c/cgroup.procs': '', 'd/cgroup.procs': '999999999\n', 'd/cgroup.kill': '' });
  assert.equal(await two.cgroups.killAll('/c', 0), true);
  assert.equal(await two.cgroups.killAll('/d', 0), false);
  assert.equal(two.at('d/cgroup.kill'), '1');
  const one = openFirst({
    'pids/d/cgroup.procs': '999999999\n',
    'freezer/cgroup.procs': '',
    'freezer/d/freezer.state': '',
  });
  assert.equal(await one.cgroups.killAll('/d', 0), false);
  assert.equal(one.at('freezer/d/freezer.state'), 'THAWED');
});
