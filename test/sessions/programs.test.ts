import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import type { Session } from '@hotcell/client/index.ts';
import { attacksNamed, helpers, observationIn, runtimes } from '../hostile/support/load.ts';
import { withstands } from '../hostile/support/withstands.ts';
import { type Bed, openBed } from '../support/bed.ts';
import type { Child } from '../support/child.ts';
import { type House, openHouse } from '../support/house.ts';
import { type RunningProducer, settle, startProducer } from '../support/producer.ts';
import { spawnWorker } from '../support/real-worker.ts';

/**
 * Programs as steps of one session, in its interpreter: the attacks on init, the root, other processes and the next step,
 * and ordinary ones. That each attack succeeds where nothing prevents it is shown in test/hostile.
 */
const attacks = await attacksNamed(
  '01-be-somebody',
  '03-gain-privileges',
  '07a-reach-init',
  '09-write-the-root',
  '11-mount-something',
  '20-make-a-namespace-by-clone3',
  '20-make-a-namespace',
  '22-use-io-uring',
  '25-look-into-a-process',
  '30-run-a-program-from-memory',
  // The last one leaves a process behind that keeps the processor busy.
  '07b-rewrite-the-next-block',
);
const folder = join(import.meta.dirname, '../cell/benign/python');
const benign = ['asyncio_everything.py', 'localhost.py', 'subprocesses.py', 'threads.py', 'temporary_files.py'];
const spawning = 'multiprocessing_pools.py';
const policies = { runc: 'sealed', gvisor: 'hostile-gvisor' } as const;

let bed: Bed;
let house: House;
let producer: RunningProducer;
let worker: Child;
before(async () => {
  bed = await openBed();
  house = await openHouse(bed);
  producer = await startProducer(bed, house);
  worker = await spawnWorker(bed, house, 'one', { HOTCELL_QUEUES: 'runc,gvisor' });
});
after(async () => {
  await settle(house, producer);
  await worker.stop();
  await house[Symbol.asyncDispose]();
  await bed[Symbol.asyncDispose]();
});

const bundled = (path: string, bytes: Buffer) => ({ path, base64: bytes.toString('base64') });

for (const runtime of runtimes)
  suite(`in a session on ${runtime}`, () => {
    let session: Session;
    let index = 0;
    before(async () => {
      const { 'attack.py': attack } = await helpers();
      const files = [bundled('attack.py', attack), bundled(spawning, await readFile(join(folder, spawning)))];
      const client = await producer.client();
      session = await client.session({ policy: policies[runtime], files });
    });
    after(() => session.finish());

    for (const file of benign)
      test(`${file} runs as it does anywhere else`, async () => {
        const step = await session.run(await readFile(join(folder, file), 'utf8'));
        index++;
        assert.equal(step.outcome, 'succeeded', `${step.reason}\n${step.stderr}`);
      });

    test(`${spawning} runs as a program of its own`, async () => {
      const step = await session.step({ language: 'bash', code: `python3 ${spawning}` });
      index++;
      assert.equal(step.outcome, 'succeeded', `${step.reason}\n${step.stderr}`);
    });

    for (const attack of attacks)
      test(`an attempt ${attack.tries} fails (${attack.lines})`, async () => {
        let said = '';
        for (const code of attack.blocks) {
          // Named as a block, which is what the attack on the next one looks for.
          const step = await session.step({ language: 'python', code, file: `block_${index++}.py` });
          said = step.stdout ?? '';
          assert.equal(step.outcome, 'succeeded', `${step.reason}\n${step.stderr}`);
        }
        withstands(attack, runtime, observationIn(said, attack.name, 'the cell'));
      });
  });
