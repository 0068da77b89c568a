import assert from 'node:assert/strict';
import { join } from 'node:path';
import { recordKeys } from '@hotcell/record/layout.ts';
import { sha256 } from '@hotcell/contract/digest.ts';
import { checkout } from '@hotcell/setup/settings/installation.ts';
import { type Bed, openBed } from './bed.ts';
import { freezeTree } from './freezing.ts';
import { openHouse } from './house.ts';
import { settle, startProducer } from './producer.ts';
import { type Pinned, pytest, pythonWithClient } from './python-client.ts';
import { spawnWorker } from './real-worker.ts';

/** A producer, a worker with real cells, and a Python that has the client as it is released. */
export interface PythonHouse extends AsyncDisposable {
  bed: Bed;
  python: string;
  env(): Promise<Record<string, string>>;
  /** Runs these files of test/python. */
  passes(...files: string[]): Promise<void>;
  /** The same, where the test kills the worker: another one then takes its place. */
  passesAndKills(...files: string[]): Promise<void>;
}

/** Whose examples run with what is pinned in a set. */
const pages = {
  autogen: 'README.md',
  evidence: 'README.md',
  integrations: 'FRAMEWORKS.md',
  airflow: 'AIRFLOW.md',
} as const satisfies Record<Pinned, string>;

export async function openPythonHouse(set?: Pinned): Promise<PythonHouse> {
  const bed = await openBed();
  const python = await pythonWithClient(bed, set);
  const house = await openHouse(bed);
  const producer = await startProducer(bed, house);
  let worker = await spawnWorker(bed, house, 'one', { HOTCELL_QUEUES: 'runc' });
  const env = async () => ({
    HOTCELL_URL: producer.url,
    HOTCELL_API_KEY: await producer.key(),
    TEST_WORKER: String(worker.process.pid),
    TEST_ADMIN_KEY: await producer.key('admin'),
    TEST_URL: producer.url,
    TEST_README: join(checkout, 'clients/python', pages[set ?? 'autogen']),
    TEST_DAMAGED_SNAPSHOT: await damaged(),
  });
  /** Its content is changed in the store, where no worker has a copy of it yet. */
  const damaged = async () => {
    const text = `frozen ${Math.random()}`;
    const { snapshot } = await freezeTree(house, house.tenant, { 'bent.txt': text });
    await house.store.put(house.store.record, recordKeys.cas(house.tenant, sha256(text)), text.toUpperCase());
    return snapshot;
  };
  const passes = async (...files: string[]) => {
    const { code, stdout, stderr } = await pytest(bed, python, files, await env());
    assert.equal(code, 0, `${stdout.slice(-100_000)}\n${stderr}`);
    assert.doesNotMatch(stdout, /\d+ skipped/, stdout);
  };
  return {
    bed,
    python,
    env,
    passes,
    async passesAndKills(...files) {
      const passing = passes(...files);
      // A test that fails before it kills ends this wait, too.
      await Promise.race([worker.ended, passing]);
      worker = await spawnWorker(bed, house, 'two', { HOTCELL_QUEUES: 'runc' });
      await passing;
    },
    async [Symbol.asyncDispose]() {
      await settle(house, producer);
      await worker.stop();
      await house[Symbol.asyncDispose]();
      await bed[Symbol.asyncDispose]();
    },
  };
}
