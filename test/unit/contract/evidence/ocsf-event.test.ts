import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ocsfEvent } from '@hotcell/contract/evidence/ocsf-event.ts';
import { newRunId } from '@hotcell/contract/names.ts';
import { Result } from '@hotcell/contract/result.ts';
import { emptyResult } from '@hotcell/record/empty-result.ts';
import { reported } from '../../clients/cli/report/reported.ts';

const refused = emptyResult(
  { run: newRunId(), tenant: 't', spec: null },
  undefined,
  { outcome: 'rejected', reason: 'Refused: no', errors: [] },
  new Date(),
);

type Seen = Record<string, unknown>;
const at = (event: Seen, path: string) =>
  path.split('.').reduce<unknown>((value, name) => (value as Seen | undefined)?.[name], event);

/** What version 1.3.0 requires of Process Activity, and of the objects in it. */
const required: Readonly<Record<string, 'number' | 'string' | 'object'>> = {
  activity_id: 'number',
  category_uid: 'number',
  class_uid: 'number',
  type_uid: 'number',
  severity_id: 'number',
  time: 'number',
  actor: 'object',
  'actor.user': 'object',
  device: 'object',
  'device.type_id': 'number',
  process: 'object',
  'process.uid': 'string',
  metadata: 'object',
  'metadata.version': 'string',
  'metadata.product': 'object',
  'metadata.product.name': 'string',
  'metadata.product.vendor_name': 'string',
};

describe('the event of a run', () => {
  for (const [what, result] of Object.entries({
    executed: Result.parse(reported('word').result),
    refused: refused,
  }))
    test(`that was ${what} has all that its class requires, in JSON`, () => {
      const event = JSON.parse(JSON.stringify(ocsfEvent(result, '1'))) as Seen;
      for (const [path, kind] of Object.entries(required)) assert.equal(typeof at(event, path), kind, path);
      assert.equal(event['type_uid'], Number(event['class_uid']) * 100 + Number(event['activity_id']));
      for (const name of ['time', 'start_time', 'end_time', 'duration']) assert.ok(Number.isInteger(event[name]), name);
      assert.equal(at(event, 'metadata.uid'), result.run);
    });

  test('names the container by its image where there was one, and else has another activity', () => {
    const executed = ocsfEvent(Result.parse(reported('word').result), '1');
    for (const path of ['uid', 'image.uid', 'image.name'])
      assert.equal(typeof at(executed, `process.container.${path}`), 'string');
    const waited = ocsfEvent({ ...Result.parse(reported('word').result), blocks: [], posture: null }, '1');
    assert.deepEqual([waited['activity_id'], at(waited, 'process.container')], [99, undefined]);
    const other = ocsfEvent(refused, '1');
    assert.deepEqual([executed['activity_id'], other['activity_id'], other['activity_name']], [2, 99, 'Not executed']);
    assert.equal(at(other, 'process.container'), undefined);
    assert.deepEqual([executed['status'], other['status'], other['status_code']], ['Failure', 'Failure', 'rejected']);
  });

  test('says to a machine what the result says: outcome, exit code, digests', () => {
    const result = Result.parse({ ...reported('word').result, outcome: 'succeeded', exitCode: 0 });
    const event = ocsfEvent(result, '1');
    assert.deepEqual([event['status_id'], event['severity_id'], event['exit_code']], [1, 1, 0]);
    assert.deepEqual(at(event, 'unmapped.policy'), result.policy);
    assert.equal(at(event, 'unmapped.spec'), result.spec);
  });
});
