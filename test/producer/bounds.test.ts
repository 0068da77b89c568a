import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Waiting } from '@hotcell/contract/api/runs.ts';
import { z } from 'zod';
import { type Bed, openBed } from '../support/bed.ts';
import { echoOn } from '../support/echo-on.ts';
import { type House, openHouse } from '../support/house.ts';
import { type RunningProducer, startProducer } from '../support/producer.ts';
import { resultOf, settled } from '../support/promise.ts';
import { until } from '../support/until.ts';
import { cliWith } from '../e2e/cli.ts';

/** Waiting runs over HTTP and on the command line: the reason, the position and the bound. */
let bed: Bed;
let house: House;
let producer: RunningProducer;

before(async () => {
  bed = await openBed();
  house = await openHouse(bed);
  producer = await startProducer(bed, house, { HOTCELL_QUEUE_MAX: '2' });
});
after(async () => {
  await producer[Symbol.asyncDispose]();
  await house[Symbol.asyncDispose]();
  await bed[Symbol.asyncDispose]();
});

const body = JSON.stringify({ blocks: [{ language: 'bash', code: 'print hello' }] });
const submit = () => producer.ask('POST', '/v1/runs', { body });

test('a full queue answers 429 with Retry-After, and every waiting run says why and is executed later', async () => {
  const runs: string[] = [];
  // The queue is counted four times a second: a few more may be accepted before it counts as full.
  const full = await until('the producer sees that the queue is full', async () => {
    const answer = await submit();
    if (answer.status === 429) return answer;
    assert.equal(answer.status, 202);
    runs.push(z.object({ run: z.string() }).parse(await answer.json()).run);
    return undefined;
  });
  assert.ok(runs.length >= 2);
  assert.equal(full.headers.get('retry-after'), '5');
  const problem = z
    .looseObject({ code: z.string(), retryable: z.boolean(), detail: z.string() })
    .parse(await full.json());
  assert.deepEqual([problem.code, problem.retryable], ['queue_full', true]);
  assert.match(problem.detail, /at most 2 may/);

  const Row = z.looseObject({ run: z.string(), waiting: Waiting });
  const Page = z.object({ runs: z.array(Row), next: z.null() });
  const listed = Page.parse(await (await producer.ask('GET', '/v1/runs')).json()).runs;
  assert.deepEqual(
    listed.map(({ run, waiting }) => [run, waiting.code, waiting.position]),
    runs.map((run, i) => [run, 'no_worker', i]).toReversed(),
  );
  for (const { run, waiting } of listed) {
    const detail = Row.parse(await (await producer.ask('GET', `/v1/runs/${run}`)).json());
    assert.deepEqual(detail.waiting, waiting);
  }
  const env = {
    HOTCELL_HOME: await bed.folder('bounds'),
    HOTCELL_URL: producer.url,
    HOTCELL_API_KEY: await producer.key(),
  };
  const cli = cliWith(env);
  assert.match((await cli.run(['ls'])).stdout, /queued .* No worker serves the queue runc/);
  assert.match((await cli.run(['show', runs[1] ?? ''])).stdout, /waiting +No worker serves .* \(1 ahead\)/);

  await house.worker('one', { env: { HOTCELL_QUEUES: 'runc' }, steps: echoOn('runc') });
  for (const run of runs) assert.equal((await resultOf(house, run)).outcome, 'succeeded');
  // `settled` also checks that no served ticket is left.
  await settled(house, runs);
});
