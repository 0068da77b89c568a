import { setTimeout as pause } from 'node:timers/promises';
import { sha256 } from '@hotcell/contract/digest.ts';
import { z } from 'zod';
import { ask, jsonOf, octetsOf } from '../support/slow-client.ts';

const mib = 2 ** 20;

/** One hostile act; it is repeated until the time is over. What it is answered does not count. */
export type Attack = (key: string, round: number) => Promise<unknown>;

export const sh = (code: string, more: object = {}) => JSON.stringify({ blocks: [{ language: 'sh', code }], ...more });

/** What costs others time, memory or sockets where it is not bounded. */
export function attacksOn(url: string): Readonly<Record<string, Attack>> {
  const request = async (key: string, method: string, path: string, body?: string) =>
    await fetch(`${url}${path}`, {
      method,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      signal: AbortSignal.timeout(30_000),
      ...(body === undefined ? {} : { body }),
    });
  const send = async (key: string, method: string, path: string, body?: string) => {
    await (await request(key, method, path, body)).arrayBuffer();
  };
  const held = async (line: string, key: string, headers: Record<string, string | number>, body: string) => {
    await using client = await ask(url, line, { key, headers, body });
    client.socket.pause();
    await pause(5_000);
  };
  const accepted = async (key: string, body: string) => {
    const answer = await request(key, 'POST', '/v1/runs', body);
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
