import { test } from 'node:test';
import { openPythonHouse } from '../support/python-house.ts';

/** Airflow from PyPI in an environment of its own, which the tests' installation keeps: to install it takes longest. */
test('an operator of Airflow defers until its run ends, and an agent of Airflow works in a sealed sandbox', async () => {
  await using house = await openPythonHouse('airflow');
  await house.passes('airflow/test_airflow.py', 'test_examples.py');
});
