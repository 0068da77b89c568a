import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { bytesOf, LogRow } from '@hotcell/contract/log-rows.ts';
import type { Run } from '@hotcell/client/index.ts';
import type { RunEvent } from '@hotcell/contract/api/events.ts';
import { type Bed, openBed } from '../support/bed.ts';
import { echoOn } from '../support/echo-on.ts';
import { type House, openHouse } from '../support/house.ts';
import { type RunningProducer, settle, startProducer } from '../support/producer.ts';
import { until } from '../support/until.ts';

let bed: Bed;
let house: House;
let producer: RunningProducer;

before(async () => {
  bed = await openBed();
  house = await openHouse(bed);
  producer = await startProducer(bed, house);
  await house.worker('one', { env: { HOTCELL_QUEUES: 'runc' }, steps: echoOn('runc') });
});
after(async () => {
  await settle(house, producer);
  await house[Symbol.asyncDispose]();
  await bed[Symbol.asyncDispose]();
});

const submit = async (code: string): Promise<Run> =>
  await (await producer.client()).submit({ blocks: [{ language: 'sh', code }] });
const textOf = (rows: readonly LogRow[]) => Buffer.concat(rows.map(bytesOf)).toString();
const rowsIn = (ndjson: string) =>
  ndjson
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => LogRow.loose().parse(JSON.parse(line)));

test('the SDK submits a run, follows its log and returns its result, whatever the outcome', async () => {
  const run = await submit('print one\nprint two\nexit 5');
  assert.equal(textOf(await Array.fromAsync(run.logs())), 'one\ntwo\n');
  const { stdout, stderr, truncated, ...result } = await run.result();
  assert.deepEqual([result.outcome, result.exitCode], ['failed', 5]);
  assert.deepEqual([stdout, stderr, truncated], ['one\ntwo\n', '', false]);
  assert.deepEqual(await run.show(), result);
});

test('a run’s events are its log in order, and last its only result', async () => {
  const run = await submit('print hello');
  const events = await Array.fromAsync(run.events());
  assert.equal(events.at(-1)?.type, 'result');
  assert.equal(events.filter((event) => event.type === 'result').length, 1);
  assert.equal(textOf(events.filter((event) => event.type === 'log')), 'hello\n');
  const again = await Array.fromAsync(run.events());
  assert.equal(textOf(again.filter((event) => event.type === 'log')), 'hello\n');
});

test('a follower sees status and rows while the run is running, and the result after a cancel', async () => {
  const run = await submit('print before\nhold');
  const seen: RunEvent[] = [];
  const isRow = (event: RunEvent) => event.type === 'log';
  const isRunning = (event: RunEvent) => event.type === 'status' && event.status === 'running';
  let cancelled = false;
  for await (const event of run.events()) {
    seen.push(event);
    // Rows and statuses travel separately: either may be first.
    if (!cancelled && seen.some(isRow) && seen.some(isRunning)) {
      cancelled = true;
      await run.cancel('seen enough');
    }
  }
  const last = seen.at(-1);
  assert.ok(last?.type === 'result');
  assert.equal(last.result.outcome, 'cancelled');
  assert.ok(cancelled, 'a row and the status were seen before the end');
});

test('aborting a wait leaves the run alone', async () => {
  const run = await submit('hold');
  const abort = new AbortController();
  const waiting = run.result({ signal: abort.signal });
  abort.abort();
  await assert.rejects(waiting, { name: 'AbortError' });
  assert.notEqual((await run.show()).status, 'finished');
  await run.cancel();
  assert.equal((await run.result()).outcome, 'cancelled');
});

test('a log can be read from any row, or by its first and last bytes', async () => {
  const run = await submit('print 0123456789\nprint abcdefghij');
  await run.result();
  const whole = rowsIn(await (await producer.ask('GET', `/v1/runs/${run.id}/logs`)).text());
  assert.equal(textOf(whole), '0123456789\nabcdefghij\n');
  const [first] = whole;
  const rest = rowsIn(await (await producer.ask('GET', `/v1/runs/${run.id}/logs?after=${first?.seq}`)).text());
  assert.deepEqual(rest, whole.slice(1));
  const ends = rowsIn(await (await producer.ask('GET', `/v1/runs/${run.id}/logs?tail=4`)).text());
  assert.equal(textOf(ends), '0123hij\n');
  assert.deepEqual(
    ends.map((row) => row['omitted']).filter((omitted) => omitted !== undefined),
    [14],
  );
});

test('server-sent events number their rows, end with an end event, and can be resumed', async () => {
  const run = await submit('print first\nprint second');
  await run.result();
  const ask = async (headers: Record<string, string>) =>
    await (
      await producer.ask('GET', `/v1/runs/${run.id}/logs`, { headers: { accept: 'text/event-stream', ...headers } })
    ).text();
  const all = await ask({});
  const ids = [...all.matchAll(/^id: (\d+)$/gm)].map(([, id]) => Number(id));
  assert.ok(ids.length > 0 && ids.every((id, at) => at === 0 || id > (ids[at - 1] ?? 0)));
  assert.match(all, /event: end\ndata: \{\}\n\n$/);
  const resumed = await ask({ 'last-event-id': String(ids[0]) });
  assert.deepEqual(
    [...resumed.matchAll(/^id: (\d+)$/gm)].map(([, id]) => Number(id)),
    ids.slice(1),
  );
});

test('a producer that ends breaks its streams off, so that clients do not take them for complete', async () => {
  await using second = await startProducer(bed, house);
  const body = '{"blocks":[{"language":"sh","code":"print x\\nhold"}]}';
  const { run } = (await (await second.ask('POST', '/v1/runs', { body })).json()) as { run: string };
  const stream = await second.ask('GET', `/v1/runs/${run}/logs?follow=true`);
  const broken = assert.rejects(stream.text());
  second.child.kill('SIGTERM');
  await broken;
  assert.deepEqual(await second.child.ended, { code: 0, signal: null });
  const client = await producer.client();
  await client.runById(run).cancel();
  assert.equal((await client.runById(run).result()).outcome, 'cancelled');
});

test('a program’s output cannot forge an event or be rendered as a page', async () => {
  const evil = '<script>alert(1)</script>\u2028data: {}';
  const run = await submit(`print ${evil}\nprint \r\rid: 99\revent: end\rdata: {}\r\r`);
  await run.result();
  const answers = await Promise.all(
    ['text/event-stream', '*/*'].map((accept) =>
      producer.ask('GET', `/v1/runs/${run.id}/logs`, { headers: { accept } }),
    ),
  );
  for (const answer of answers) {
    assert.match(answer.headers.get('content-type') ?? '', /^(text\/event-stream|application\/x-ndjson)/);
    assert.equal(answer.headers.get('x-content-type-options'), 'nosniff');
    assert.match(answer.headers.get('content-security-policy') ?? '', /default-src 'none'.*sandbox/);
  }
  const [events = '', rows = ''] = await Promise.all(answers.map((answer) => answer.text()));
  assert.match(textOf(rowsIn(rows)), /<script>alert\(1\)<\/script>[^]*event: end/);
  // For a reader of events a lone CR also ends a line.
  const seen = events.split(/\r\n|\r|\n/).filter((line) => line.startsWith('event: '));
  assert.deepEqual([...new Set(seen.slice(0, -1)), seen.at(-1)], ['event: log', 'event: end']);
  const naive = `data: ${textOf(rowsIn(rows))}`.split(/\r\n|\r|\n/);
  assert.ok(naive.includes('event: end'), 'sent as it is, the text would contain an event');
});

test('a late reader of a long log gets every row once, from the start to the live end', async () => {
  const lines = Array.from({ length: 3000 }, (_, n) => `line ${n}`);
  const run = await submit(`${lines.map((line) => `print ${line}`).join('\n')}\nhold`);
  await until('the run is running', async () => (await run.show()).status === 'running');
  const live = house.producer.live.logs;
  const kept = await until('all rows are in the live log', async () => {
    const rows = await live.read(run.id, 1, 2900, 1000);
    return rows.at(-1)?.seq === lines.length - 1 && (await live.read(run.id, 1, -1, 1));
  });
  assert.notEqual(kept[0]?.seq, 0, 'the live log has dropped its first rows');
  const expected = lines.map((line) => `${line}\n`).join('');
  const seen: LogRow[] = [];
  for await (const row of run.logs()) {
    seen.push(row);
    if (seen.length === lines.length) await run.cancel('seen');
  }
  assert.equal(textOf(seen), expected);
  assert.deepEqual(
    seen.map(({ seq }) => seq),
    lines.map((_, n) => n),
  );
});
