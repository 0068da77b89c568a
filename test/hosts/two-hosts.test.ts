import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { hexOf, sha256 } from '@hotcell/contract/digest.ts';
import { objects } from '@hotcell/record/objects.ts';
import { readValue } from '@hotcell/record/read-write.ts';
import { cancelRun } from '@hotcell/producer/cancel.ts';
import { command, must } from '@hotcell/setup/command.ts';
import { type Bed, openBed } from '../support/bed.ts';
import type { Child } from '../support/child.ts';
import { freezeTree } from '../support/freezing.ts';
import { type House, openHouse } from '../support/house.ts';
import { type NetworkHost, openNetworkHost } from '../support/network-host.ts';
import { resultOf, running, settled } from '../support/promise.ts';
import { pinPolicy, type RealRuns, spawnWorker } from '../support/real-worker.ts';
import { until } from '../support/until.ts';

/** Two hosts as far as one machine allows: separate networks, folders and processes. */
let bed: Bed;
let house: House;
let real: RealRuns;
const stack = new AsyncDisposableStack();
const hosts: Record<'left' | 'right', { net: NetworkHost; folder: string; worker: Child }> = {} as never;

before(async () => {
  bed = await openBed();
  house = stack.use(await openHouse(bed));
  real = await pinPolicy(bed, house, 'sealed');
  const [left, right] = [await bed.folder('left'), await bed.folder('right')];
  for (const [name, folder, other] of [
    ['left', left, right],
    ['right', right, left],
  ] as const) {
    const net = stack.use(await openNetworkHost(bed, [other]));
    // One and a half CPUs: too few for two runs that want one each.
    // The engine makes the cells, so that their uids are leased by these two workers alone.
    const env = { ...net.env, HOTCELL_STATE_DIR: folder, HOTCELL_CPUS: '1.5', HOTCELL_CELLS: 'engine' };
    const worker = stack.use(await spawnWorker(bed, house, name, env, net.within));
    hosts[name] = { net, folder, worker };
  }
  await Promise.all(Object.values(hosts).map(({ worker }) => worker.saying('ready for tickets')));
});
after(async () => {
  await stack.disposeAsync();
  await bed[Symbol.asyncDispose]();
});

async function submit(code: string, tree: Record<string, string>) {
  const { snapshot, locations } = await freezeTree(house, house.tenant, tree);
  const spec = {
    ...real.spec,
    blocks: [{ language: 'python', code }],
    inputs: [{ name: 'data', snapshot, locations }],
    limits: { cpus: 1 },
  };
  return (await house.submit('', { spec, queue: real.queue })).run;
}

/** The host on which the attempt runs. */
const runsAt = async (run: string, attempt = 1) => (await running(house, run, attempt)) as 'left' | 'right';

async function cellsOf(worker: string): Promise<string[]> {
  const labels = [`hotcell.installation=${house.id}`, 'hotcell.role=cell', `hotcell.worker=${worker}`];
  const filters = labels.flatMap((label) => ['--filter', `label=${label}`]);
  return (await must(['docker', 'ps', '--all', ...filters, '--format', '{{.Names}}'])).split('\n').filter(Boolean);
}

async function hasStaged(host: { folder: string }, content: string): Promise<boolean> {
  const hex = hexOf(sha256(content));
  const path = join(host.folder, 'cache/tenants', house.tenant, 'files', hex.slice(0, 2), hex);
  return (await readFile(path, 'utf8').catch(() => '')) === content;
}

test('a host sees neither the other’s folders nor any network but its own', async () => {
  const { left, right } = hosts;
  const listed = await must([...left.net.within, 'ls', right.folder]);
  assert.equal(listed, '');
  assert.match(await must([...left.net.within, 'ls', left.folder]), /init/);
  const knock = 'require("net").connect(process.argv[1], process.argv[2]).on("connect", () => process.exit(0))';
  const reaches = async (address: string) => {
    const { hostname, port } = new URL(address);
    const knocking = `${knock}.on("error", () => process.exit(1)); setTimeout(() => process.exit(2), 2000)`;
    return (await command([...left.net.within, process.execPath, '-e', knocking, port, hostname])).code === 0;
  };
  assert.equal(await reaches(left.net.env.HOTCELL_S3_ENDPOINT), true);
  assert.equal(await reaches(right.net.env.HOTCELL_S3_ENDPOINT), false);
  assert.equal(await reaches(bed.installation.store.endpoint), false);
});

test('runs are spread over both hosts, each stages its own inputs, no uid is leased twice, and a host that is cut off commits nothing', async () => {
  // Long enough to end while its host is cut off, and to be taken over meanwhile.
  const code = "import time; open('/outputs/o','w').write(open('/inputs/data/in.txt').read()); time.sleep(20)";
  const long = await submit(code, { 'in.txt': 'for the long one' });
  const held = await submit("import time; print(open('/inputs/data/in.txt').read()); time.sleep(600)", {
    'in.txt': 'for the one that is held',
  });
  const at = await runsAt(long);
  const other = at === 'left' ? 'right' : 'left';
  assert.equal(await runsAt(held), other);
  const names = [...(await cellsOf('left')), ...(await cellsOf('right'))];
  assert.equal(names.length, 2);
  assert.equal(new Set(names).size, 2);
  assert.ok(await hasStaged(hosts[at], 'for the long one'));
  assert.ok(await hasStaged(hosts[other], 'for the one that is held'));
  assert.ok(!(await hasStaged(hosts[other], 'for the long one')));

  await hosts[at].net.cut();
  await cancelRun(house.producer, { tenant: house.tenant, run: held, by: 'anna', reason: 'room is needed' });
  assert.equal(await runsAt(long, 2), other);
  assert.ok(await hasStaged(hosts[other], 'for the long one'));
  const result = await resultOf(house, long, 120_000);
  assert.equal(result.outcome, 'succeeded', result.reason);
  assert.deepEqual(
    result.attempts.map(({ attempt, worker, error }) => [attempt, worker, error?.code]),
    [
      [1, at, 'worker_gone'],
      [2, other, undefined],
    ],
  );
  await until(
    'the cut-off host’s cell is gone, though it could tell no one',
    async () => (await cellsOf(at)).length === 0,
  );
  await hosts[at].net.heal();
  const lost = await until(
    'the cut-off host records why its attempt does not count',
    () => readValue(house.store, objects.attempt, house.tenant, long, { attempt: 1, claim: result.attempts[0]?.claim }),
    120_000,
  );
  // While it was cut off, it gave up on the store, or the other host took it for dead and removed its cell: it failed. Or
  // it came back and found the other's result: it hands back what it had.
  const { error, handedBack, outcome } = lost;
  const ends: Readonly<Record<string, boolean>> = { store_unavailable: false, cell_failed: false, lost_claim: true };
  assert.deepEqual([lost.worker, handedBack, outcome], [at, ends[error.code], undefined], error.message);
  // `settled` also checks that the result still has one version: the other host's.
  await settled(house, [long, held], 120_000);
  const again = await submit('print(1)', { 'in.txt': 'for the one after' });
  await resultOf(house, again, 120_000);
  await settled(house, [again]);
  await Promise.all(Object.values(hosts).map(({ worker }) => worker.stop()));
  assert.deepEqual([...(await cellsOf('left')), ...(await cellsOf('right'))], []);
});
