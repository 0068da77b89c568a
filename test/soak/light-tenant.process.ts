/** A light tenant: submits one run after the other, waits for each, and says how long that took, as one line of JSON. */
import assert from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';
import { sh } from './attacks-on-api.ts';

const restMs = 50;

const { url, key, until } = JSON.parse(process.env['ASKED'] ?? '{}');
const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json', prefer: 'wait=60' };
const took: number[] = [];
while (Date.now() < until) {
  const began = performance.now();
  const answer = await fetch(`${url}/v1/runs`, { method: 'POST', headers, body: sh('print hello') });
  const text = await answer.text();
  assert.equal(answer.status, 200, text);
  took.push(performance.now() - began);
  await pause(restMs);
}
const sorted = took.toSorted((a, b) => a - b);
const at = (share: number) => Math.round(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0);
process.stderr.write(`${JSON.stringify({ p50: at(0.5), p99: at(0.99), count: took.length })}\n`);
