import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { must } from '@hotcell/setup/command.ts';
import { checkout } from '@hotcell/setup/settings/installation.ts';
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

test('schedules are made, shown, changed and removed from Python', () => house.passes('test_schedules.py'));

test('batches, workflows and webhooks are made, followed and ended from Python', () =>
  house.passes('test_many_runs.py'));

test('sessions are started, stepped through, interrupted and finished from Python', () =>
  house.passes('test_sessions.py'));

test('what fails between a Python program and its result is repeated where that is safe, or named', () =>
  house.passes('test_failures.py'));

test('a worker that is killed in the middle of a run costs the Python caller nothing but time', () =>
  house.passesAndKills('test_killed_worker.py'));

test('what a job leaves can’t redirect the caller’s key or flood the caller’s host', () =>
  house.passes('test_staying.py'));

test('every example of the package’s README runs as it stands', () => house.passes('test_examples.py'));

test('mypy finds nothing in the Python package, at its strictest', async () => {
  const cwd = await house.bed.folder('mypy');
  await must([
    house.python,
    '-m',
    'mypy',
    '--config-file',
    join(checkout, 'clients/python/pyproject.toml'),
    '--cache-dir',
    cwd,
    join(checkout, 'clients/python/src/hotcell'),
  ]);
});
