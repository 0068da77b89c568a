import { after, before, test } from 'node:test';
import { openPythonHouse, type PythonHouse } from '../support/python-house.ts';

/** The Python client as it is released, against a producer, a worker and real cells. */
let house: PythonHouse;

before(async () => {
  house = await openPythonHouse();
});
after(() => house[Symbol.asyncDispose]());

test('runs, logs, waits and refusals are what the Python client says they are', () => house.passes('test_runs.py'));

test('outputs, snapshots and DataFrames pass through the Python client unchanged', () =>
  house.passes('test_outputs.py'));

test('what fails between a Python program and its result is repeated where that is safe, or named', () =>
  house.passes('test_failures.py'));

test('every example of the package’s README runs as it stands', () => house.passes('test_examples.py'));
