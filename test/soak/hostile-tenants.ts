import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { sha256 } from '@hotcell/contract/digest.ts';
import { z } from 'zod';
import { openBed } from '../support/bed.ts';
import { echoOn } from '../support/echo-on.ts';
import { openHouse } from '../support/house.ts';
import { type RunningProducer, startProducer } from '../support/producer.ts';
import { ask, jsonOf, octetsOf } from '../support/slow-client.ts';

const mib = 2 ** 20;
const mostSlower = 3;

/** One hostile act; it is repeated until the time is over. What it is answered does not count. */
type Attack = (key: string, round: number) => Promise<unknown>;

const sh = (code: string, more: object = {}) => JSON.stringify({ blocks: [{ language: 'sh', code }], ...more });
const deaf = () => undefined;

/** Everything at once that cost others time, memory or sockets before it was bounded. */
function attacksOn(producer: RunningProducer): Readonly<Record<string, Attack>> {
  const send = async (key: string, method: string, path: string, body?: string) => {
    const signal = AbortSignal.timeout(30_000);
    const answer = await producer.ask(method, path, { key, signal, ...(body === undefined ? {} : { body }) });
    await answer.arrayBuffer();
  };
  const held = async (line: string, key: string, headers: Record<string, string | number>, body: string) => {
    await using client = await ask(producer.url, line, { key, headers, body });
    client.socket.pause();
    await pause(5_000);
  };
  const accepted = async (key: string, body: string) => {
    const answer = await producer.ask('POST', '/v1/runs', { key, body, signal: AbortSignal.timeout(30_000) });
    return z.looseObject({ run: z.string() }).parse(await answer.json()).run;
  };
  const names = Array.from({ length: 4_000 }, (_, i) =>
    'abcdefghijkl'
      .split('')
      .map((c, at) => ((i >> at) & 1 ? c.toUpperCase() : c))
      .join(''),
  );
  const crowd = JSON.stringify({ files: names.map((path) => ({ path, size: 1, sha256: sha256('x') })) });
  const unknown = sh('exit 0', Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`blokcs${i}`, 1])));
  const labels = Array.from({ length: 1_200 }, (_, i) => `label=a=${i}`).join('&');
  return {
    'a first line of spaces': (key) => send(key, 'POST', '/v1/runs', sh(`# filename: a${' '.repeat(100_000)}x`)),
    'spellings of one name': (key) => send(key, 'POST', '/v1/uploads', crowd),
    'unknown fields': (key) => send(key, 'POST', '/v1/runs', unknown),
    'repeated labels': (key) => send(key, 'GET', `/v1/runs?${labels}`),
    'bodies that do not come': (key) => held('POST /v1/runs', key, jsonOf(64 * mib), '{'),
    'uploads that do not come': (key) => held(`PUT /v1/uploads/x/${sha256('')}`, key, octetsOf(8 * mib), 'x'),
    'large bodies': (key) => send(key, 'POST', '/v1/runs', sh('exit 0', { labels: { x: 'y'.repeat(16 * mib) } })),
    'followers that do not read': async (key) => {
      const run = await accepted(key, sh('hold'));
      await Promise.all(Array.from({ length: 50 }, () => held(`GET /v1/runs/${run}/events`, key, {}, '')));
      await send(key, 'POST', `/v1/runs/${run}/cancel`);
    },
    'a flood of runs': (key) => send(key, 'POST', '/v1/runs', sh('print flood', { priority: 9 })),
    'runs of next month': (key) =>
      send(key, 'POST', '/v1/runs', sh('exit 0', { notBefore: new Date(Date.now() + 20 * 86_400_000).toISOString() })),
    'guessed keys': (_key, round) => send(`hc_${String(round).padStart(43, 'A')}`, 'GET', '/v1/runs'),
    'prefixes of others': (key) => send(key, 'POST', '/v1/runs', sh('exit 0', { inputs: { all: 's3://lake/' } })),
  };
}

/**
 * Hostile tenants beside a light one, whose 99th percentile stays within three times that of an idle installation, while
 * the memory of producer and Valkey is flat.
 */
export async function hostileTenants(say: (line: string) => void, minutes: number): Promise<string> {
  await using bed = await openBed();
  await using house = await openHouse(bed);
  const quotas = join(await bed.folder('quotas'), 'quotas.yaml');
  await writeFile(
    quotas,
    'version: 1\ndefaults: { requestsPerSecond: 20, waitingRuns: 1000, runningRuns: 4, openStreams: 100 }\n',
  );
  await using producer = await startProducer(bed, house, { HOTCELL_QUOTAS: quotas });
  await house.worker('one', { env: { HOTCELL_QUEUES: 'runc', HOTCELL_RUNS: '16' }, steps: echoOn('runc') });
  const light = await producer.key('submitter', bed.tenant());
  const end = Date.now() + minutes * 60_000;
  const idle = await percentiles(producer, light, Date.now() + (end - Date.now()) / 10);
  say(`idle: p50 ${idle.p50} ms, p99 ${idle.p99} ms of ${idle.count} runs`);
  const attacks = Object.entries(attacksOn(producer)).map(async ([name, attack]) => {
    const key = await producer.key('submitter', bed.tenant());
    let acts = 0;
    for (; Date.now() < end; acts++) await attack(key, acts).catch(deaf);
    say(`${name}: ${acts} times`);
  });
  const early = Date.now() + (end - Date.now()) / 3;
  const first = await percentiles(producer, light, early);
  const before = await memoryOf(producer);
  const second = await percentiles(producer, light, end);
  const grown = (await memoryOf(producer)) - before;
  await Promise.all(attacks);
  const p99 = Math.max(first.p99, second.p99);
  say(
    `beside them: p50 ${second.p50} ms, p99 ${p99} ms of ${first.count + second.count} runs; producer ${grown} MiB more`,
  );
  assert.ok(p99 <= mostSlower * idle.p99, `the light tenant waited ${p99} ms, and ${idle.p99} ms when all was idle`);
  assert.ok(grown < 128, `the producer grew by ${grown} MiB`);
  return `p99 ${(p99 / idle.p99).toFixed(2)} of idle (at most ${mostSlower}), ${grown} MiB more`;
}

/** Submits one run after the other, and waits for each. */
async function percentiles(producer: RunningProducer, key: string, until: number) {
  const took: number[] = [];
  while (Date.now() < until) {
    const began = performance.now();
    const answer = await producer.ask('POST', '/v1/runs', {
      key,
      body: sh('print hello'),
      headers: { prefer: 'wait=60' },
    });
    assert.equal(answer.status, 200, await answer.text());
    took.push(performance.now() - began);
    await pause(50);
  }
  const sorted = took.toSorted((a, b) => a - b);
  const at = (share: number) => Math.round(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0);
  return { p50: at(0.5), p99: at(0.99), count: took.length };
}

/** What the producer holds of the machine's memory, in MiB. */
async function memoryOf({ child }: RunningProducer): Promise<number> {
  const status = await readFile(`/proc/${child.process.pid}/status`, 'utf8');
  return Math.round(Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024);
}
