import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { pythonAnswers, pythonModels } from '../../docs/python-answers.ts';

const sources = join(import.meta.dirname, '../../../clients/python/src/hotcell');

for (const [file, ids] of Object.entries(pythonAnswers))
  test(`the models of ${file}.py are those of the description of the API`, () => {
    assert.equal(readFileSync(join(sources, `${file}.py`), 'utf8'), pythonModels(ids), 'run test/docs/generate.ts');
  });

test('a field that may be missing is optional, and one that may be null has to be there', () => {
  const models = pythonModels(['Result']);
  assert.match(models, /\n {4}exit_code: Optional\[int\]\n/);
  assert.match(models, /\n {4}errors: Optional\[list\[ResultError\]\] = None\n/);
});
