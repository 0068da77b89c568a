import assert from 'node:assert/strict';
import { Worker, isMainThread, parentPort, workerData } from 'node:worker_threads';

if (isMainThread) {
  const shared = new Int32Array(new SharedArrayBuffer(4));
  const workers = [1, 2, 3, 4].map(() => new Worker(new URL(import.meta.url), { workerData: shared }));
  await Promise.all(workers.map((one) => new Promise((resolve) => one.once('exit', resolve))));
  assert.equal(shared[0], 4000);
} else {
  for (let i = 0; i < 1000; i++) Atomics.add(workerData, 0, 1);
  parentPort.postMessage('done');
}
