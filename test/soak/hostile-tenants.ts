import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { openBed } from '../support/bed.ts';
import { type Child, spawnNode } from '../support/child.ts';
import { echoOn } from '../support/echo-on.ts';
import { openHouse } from '../support/house.ts';
import { type RunningProducer, startProducer } from '../support/producer.ts';
import { attacksOn } from './attacks-on-api.ts';

const mostSlower = 3;
const mostMoreMiB = 128;
const quotas =
  'version: 1\ndefaults: { requestsPerSecond: 20, waitingRuns: 1000, runningRuns: 4, openStreams: 100, storedBytes: 1073741824 }\n';

/**
 * Hostile tenants beside a light one, whose 99th percentile stays within three times that of an idle installation, while
 * the memory of the producer is flat. Both are processes of their own, as they would be elsewhere: the light one measures
 * what it waits for, not what its neighbours do to its event loop, and the hostile ones have a lower priority, since
 * their machines are not ours.
 */
export async function hostileTenants(say: (line: string) => void, minutes: number): Promise<string> {
  await using bed = await openBed();
  await using house = await openHouse(bed);
  const file = join(await bed.folder('quotas'), 'quotas.yaml');
  await writeFile(file, quotas);
  await using producer = await startProducer(bed, house, { HOTCELL_QUOTAS: file });
  await house.worker('one', { env: { HOTCELL_QUEUES: 'runc', HOTCELL_RUNS: '16' }, steps: echoOn('runc') });
  const light = { url: producer.url, key: await producer.key('submitter', bed.tenant()) };
  const end = Date.now() + minutes * 60_000;
  const idle = await lightTenant({ ...light, until: Date.now() + (end - Date.now()) / 5 });
  say(`idle: ${shown(idle)}`);
  const keys: Record<string, string> = {};
  for (const name of Object.keys(attacksOn(''))) keys[name] = await producer.key('submitter', bed.tenant());
  await using attackers = start('attackers', { url: producer.url, keys, until: end });
  const first = await lightTenant({ ...light, until: Date.now() + (end - Date.now()) / 3 });
  say(`beside them: ${shown(first)}, producer ${await memoryOf(producer)} MiB`);
  const before = await memoryOf(producer);
  const second = await lightTenant({ ...light, until: end });
  const grown = (await memoryOf(producer)) - before;
  say(`beside them: ${shown(second)}, producer ${grown} MiB more`);
  const { code } = await attackers.ended;
  say(attackers.said().trim());
  assert.equal(code, 0, 'the attackers attacked to the end');
  const slower = Math.max(first.p99, second.p99) / idle.p99;
  const held = `p99 ${slower.toFixed(2)} of idle (at most ${mostSlower}), ${grown} MiB more (at most ${mostMoreMiB})`;
  assert.ok(slower <= mostSlower && grown <= mostMoreMiB, held);
  return held;
}

const start = (name: string, asked: unknown): Child =>
  spawnNode(`test/soak/${name}.process.ts`, { ASKED: JSON.stringify(asked) });

interface Waits {
  p50: number;
  p99: number;
  count: number;
}

async function lightTenant(asked: { url: string; key: string; until: number }): Promise<Waits> {
  await using child = start('light-tenant', asked);
  const { code } = await child.ended;
  assert.equal(code, 0, child.said());
  return JSON.parse(child.said().trim().split('\n').at(-1) ?? '') as Waits;
}

const shown = ({ p50, p99, count }: Waits) => `p50 ${p50} ms, p99 ${p99} ms of ${count} runs`;

/** What the producer holds of the machine's memory, in MiB. */
async function memoryOf({ child }: RunningProducer): Promise<number> {
  const status = await readFile(`/proc/${child.process.pid}/status`, 'utf8');
  return Math.round(Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024);
}
