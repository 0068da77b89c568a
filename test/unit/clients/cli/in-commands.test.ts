import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, test } from 'node:test';
import { inCommands } from '@hotcell/cli/in-commands.ts';

const root = resolve(import.meta.dirname, '../../../..');
const id = '01a1f563-2721-727f-8f82-3a99eb866310';

describe('what the API says of its calls, the command line says of its commands', () => {
  for (const [said, told] of [
    [`Run ${id} not found. GET /v1/runs lists the runs.`, `Run ${id} not found. ./hotcell ls lists the runs.`],
    [`GET /v1/runs/${id} shows its result.`, `./hotcell show ${id} shows its result.`],
    [`Submit it again with POST /v1/runs/${id}/rerun.`, `Submit it again with ./hotcell rerun ${id}.`],
    ['PUT /v1/schedules/nightly changes it', './hotcell schedule update nightly changes it'],
    ['GET /v1/snapshot-names lists the names.', './hotcell snapshot names lists the names.'],
    [
      'Refused: inputs.sales: No snapshot is named sale.csv. GET /v1/snapshot-names lists the names.',
      'Refused: inputs.sales: sale.csv is neither a file or folder nor the name of a snapshot. ./hotcell snapshot names lists the names.',
    ],
    [
      'API key not recognised. Send "Authorization: Bearer <API key>" with a valid key.',
      'API key not recognised. Set HOTCELL_API_KEY to a valid key.',
    ],
    ['GET /v1/snapshot-names has its history.', './hotcell snapshot names --history lists them.'],
    ['POST /v1/workers/host-1.a/resume lets it', './hotcell workers resume host-1.a lets it'],
    ['the address is not valid: policy: must be a digest', 'policy: must be a digest'],
    ['Name its new data in "inputs"', 'Give its new data with --input NAME=SRC'],
    [`GET /v1/runs/${id}/outputs`, `GET /v1/runs/${id}/outputs`],
  ] as const)
    test(said, () => assert.equal(inCommands(said), told));

  const texts = globSync('{contract,producer,record,executor-worker,policies}/**/*.ts', {
    cwd: root,
    exclude: (name) => name === 'node_modules',
  }).flatMap((file) =>
    readFileSync(join(root, file), 'utf8')
      .split('\n')
      .filter((line) => !/^\s*(?:\/\/|\/?\*)/.test(line))
      .map((line) => ({ file, line: line.trim() })),
  );

  test('every call that a message names has its command', () => {
    const calls = texts.filter(
      ({ line }) =>
        /(?:GET|POST|PUT|DELETE) \/v1/.test(line) && !/^(?:\w+: )?(?:route\()?'?[A-Z]+ \/v1\/\S+',|route\('/.test(line),
    );
    assert.ok(calls.length > 5, 'the search finds no messages any more');
    for (const { file, line } of calls) {
      const filled = line.replaceAll(/\$\{[^}]+\}/g, id);
      assert.doesNotMatch(inCommands(filled), /(?:GET|POST|PUT|DELETE) \/v1/, `${file}: ${line}`);
    }
  });

  test('no answer of the API names a command', () => {
    const api = texts.filter(({ file }) =>
      /^(?:producer|contract\/(?:admission|api|read-request|foreign|decide|policy-merge))/.test(file),
    );
    assert.deepEqual(
      api.filter(({ line }) => line.includes('./hotcell')),
      [],
    );
  });
});
