import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { canonical, type Digest, digestOf, sha256 } from '@hotcell/contract/digest.ts';
import { signErasure } from '@hotcell/contract/evidence/erasure.ts';
import type { AttestedResult } from '@hotcell/contract/evidence/attested-result.ts';
import { lineOf, type LogRow } from '@hotcell/contract/log-rows.ts';
import { Result } from '@hotcell/contract/result.ts';
import { newRunId } from '@hotcell/contract/names.ts';
import { chained, type ChainedStep, codeOf, type StepRecord, type StepResult } from '@hotcell/contract/session/step.ts';
import { isErasedFrom } from '@hotcell/record/erased-keys.ts';
import { emptyResult } from '@hotcell/record/empty-result.ts';
import { recordKeys } from '@hotcell/record/layout.ts';
import { listKeys, Memory, putSigned, root, signerOf, verdictIn } from '../../../support/signed-record.ts';

const tenant = 't';
const worker = signerOf('worker', 'one');
const row = (text: string): LogRow => ({ seq: 0, at: '2026-11-19T12:00:00.000Z', block: 0, stream: 'stdout', text });
const picture = Buffer.from('a picture');
const longLog = lineOf(row('a long log'));

/** A session of two steps as its worker leaves it. The first has its log and what it showed in its result, the second beside it. */
async function made(change: { step?: Partial<StepResult>; result?: (result: AttestedResult) => AttestedResult } = {}) {
  const record = new Memory();
  listKeys(record, worker.listed);
  const [run, at, claim] = [newRunId(), new Date(), crypto.randomUUID()];
  const time = at.toISOString();
  const place = { attempt: 1, claim };
  const put = (key: string, value: unknown): Digest => {
    record.set(key, Buffer.from(canonical(value)));
    return digestOf(value);
  };
  const keys = {
    session: recordKeys.session(tenant, run),
    link: recordKeys.step(tenant, run, 1),
    result: recordKeys.stepResult(tenant, run, place, 0),
    log: recordKeys.stepPart(tenant, run, place, 1, 'log'),
    output: recordKeys.stepPart(tenant, run, place, 1, 0),
  };
  put(keys.session, {
    ...{ version: 1, run, tenant, ...place, worker: 'one', interpreter: sha256('program'), at: time },
  });
  record.set(keys.log, Buffer.from(longLog));
  record.set(keys.output, picture);
  const left: Pick<StepResult, 'log' | 'outputs'>[] = [
    {
      log: { sha256: sha256(lineOf(row('short'))), bytes: 5, rows: [row('short')] },
      outputs: [{ kind: 'result', size: 2, sha256: sha256('42'), text: '42' }],
    },
    {
      log: { sha256: sha256(longLog), bytes: 10 },
      outputs: [{ kind: 'display', size: picture.length, sha256: sha256(picture) }],
    },
  ];
  const chain: ChainedStep[] = [];
  let before = sha256('spec');
  for (const [index, kept] of left.entries()) {
    const block = { language: 'python', code: `step ${index}` };
    const about = { version: 1 as const, run, tenant, index };
    const link: StepRecord = {
      ...{ ...about, id: crypto.randomUUID(), at: time, requester: { key: 'k', role: 'submitter' }, before },
      ...{ kind: 'step', block, code: codeOf(block), files: [] },
    };
    before = put(recordKeys.step(tenant, run, index), link);
    const result: StepResult = {
      ...{ ...about, language: 'python', outcome: 'succeeded', exitCode: 0, saidBy: 'job', signal: null, reason: '' },
      ...{ startedAt: time, finishedAt: time, step: before, code: link.code, refused: [], ...kept },
      usage: { wallMs: 1, cpuMs: 1, peakMemoryBytes: 1, logBytes: 1 },
      ...(index === 0 ? change.step : {}),
    };
    chain.push(chained(result, put(recordKeys.stepResult(tenant, run, place, index), result), chain));
  }
  const of = { run, tenant, spec: sha256('spec') };
  const base = emptyResult(of, undefined, { outcome: 'cancelled', reason: 'c' }, at);
  const { finishedAt } = base.timings;
  const attempt = { ...place, worker: 'one', startedAt: time, finishedAt, outcome: 'cancelled' } as const;
  const result = { ...base, attempts: [attempt], steps: chain };
  await putSigned(record, worker.signer, change.result?.(result) ?? result);
  record.set(recordKeys.spec(tenant, run), Buffer.from('spec'));
  return { record, run, keys };
}
type Made = Awaited<ReturnType<typeof made>>;

/** The spec of this record is none: what it says of steps is what counts here. */
const ofSteps = async ({ record, run }: Pick<Made, 'record' | 'run'>) =>
  (await verdictIn(record, { tenant, run })).findings.filter(({ object }) => !object.endsWith('spec.json'));

const flipped = (bytes: Buffer | undefined) => {
  const other = Buffer.from(bytes ?? '');
  const middle = other.length >> 1;
  other.writeUInt8(other.readUInt8(middle) ^ 1, middle);
  return other;
};

describe('what a session’s steps left', () => {
  test('is right as its worker leaves it', async () => {
    assert.deepEqual(await ofSteps(await made()), []);
  });

  for (const name of ['link', 'result', 'log', 'output'] as const) {
    test(`is MODIFIED where one bit of a step’s ${name} is turned, and MISSING where it is gone`, async () => {
      const { record, run, keys } = await made();
      const key = keys[name];
      record.set(key, flipped(record.get(key)));
      const first = (findings: Awaited<ReturnType<typeof ofSteps>>) => [findings[0]?.verdict, findings[0]?.object];
      assert.deepEqual(first(await ofSteps({ record, run })), ['MODIFIED', key]);
      record.delete(key);
      assert.deepEqual(first(await ofSteps({ record, run })), ['MISSING', key]);
    });
  }

  test('is MODIFIED where the session names another worker than the result, or is no record', async () => {
    const { record, run, keys } = await made();
    const session = record.get(keys.session)?.toString() ?? '';
    for (const other of [session.replace('"one"', '"two"'), '{']) {
      record.set(keys.session, Buffer.from(other));
      const [finding] = await ofSteps({ record, run });
      assert.deepEqual([finding?.verdict, finding?.object], ['MODIFIED', keys.session]);
    }
  });

  const contradictions: Readonly<Record<string, [Parameters<typeof made>[0], at: (keys: Made['keys']) => string]>> = {
    'rows are not those of its digest': [
      { step: { log: { sha256: sha256('another'), bytes: 5, rows: [row('short')] } } },
      ({ result }) => `${result}: log.rows`,
    ],
    'shown text is not that of its digest': [
      { step: { outputs: [{ kind: 'result', size: 2, sha256: sha256('41'), text: '42' }] } },
      ({ result }) => `${result}: outputs[0].text`,
    ],
    'result is of another run': [{ step: { run: newRunId() } }, ({ result }) => `${result}: run`],
    'outcome is another in the chain': [
      { result: (one) => ({ ...one, steps: one.steps?.map((step) => ({ ...step, outcome: 'failed' })) ?? [] }) },
      ({ result }) => `${result}: outcome`,
    ],
  };
  for (const [what, [change, at]] of Object.entries(contradictions))
    test(`is INCONSISTENT where a step’s ${what}, although its worker signed it`, async () => {
      const session = await made(change);
      const [finding] = await ofSteps(session);
      assert.deepEqual([finding?.verdict, finding?.object], ['INCONSISTENT', at(session.keys)]);
    });

  for (const [what, change] of Object.entries<(steps: ChainedStep[]) => ChainedStep[]>({
    'its first step': (steps) => steps.slice(1),
    'the order of its steps': (steps) => steps.toReversed(),
  }))
    test(`is not VALID where its worker signs a result that hides ${what}`, async () => {
      const session = await made({ result: (one) => ({ ...one, steps: change(one.steps ?? []) }) });
      const [finding] = await ofSteps(session);
      assert.deepEqual([finding?.verdict, finding?.object], ['MODIFIED', recordKeys.step(tenant, session.run, 0)]);
    });

  test('names a step that stands behind the last one of the result', async () => {
    const { record, run, keys } = await made({ result: (one) => ({ ...one, steps: one.steps?.slice(0, 1) ?? [] }) });
    const { ignored } = await verdictIn(record, { tenant, run });
    assert.deepEqual(
      ignored?.map(({ object }) => object),
      [keys.link],
    );
    assert.deepEqual(await ofSteps({ record, run }), []);
  });

  test('ends with a wish to end it that names the last step, and is MODIFIED where that names another', async () => {
    const { record, run, keys } = await made();
    const before = sha256(record.get(keys.link) ?? '');
    const key = recordKeys.step(tenant, run, 2);
    const finish = { version: 1, run, tenant, index: 2, id: crypto.randomUUID(), at: new Date().toISOString() };
    const link = { ...finish, requester: { key: 'k', role: 'submitter' }, kind: 'finish' };
    record.set(key, Buffer.from(canonical({ ...link, before })));
    const { ignored, findings } = await verdictIn(record, { tenant, run });
    assert.deepEqual([ignored, findings.filter(({ object }) => object === key)], [undefined, []]);
    for (const other of [{ ...link, before: sha256('spec') }, { ...link, before, index: 1 }, {}]) {
      record.set(key, Buffer.from(canonical(other)));
      const [finding] = await ofSteps({ record, run });
      assert.deepEqual([finding?.verdict, finding?.object], ['MODIFIED', key]);
    }
  });

  test('is INCONSISTENT where a step has an end and no result of its own', async () => {
    const session = await made({
      result: (one) => ({ ...one, steps: one.steps?.map((step) => ({ ...step, result: null })) ?? [] }),
    });
    const [finding] = await ofSteps(session);
    assert.equal(finding?.verdict, 'INCONSISTENT');
    assert.match(finding.object, /: steps\[0\]$/);
  });
});

describe('what the steps of an erased session left', () => {
  test('may be gone, and each part that is still there has to match', async () => {
    const { record, run, keys } = await made();
    const doomed = [...record.keys()].filter((key) => isErasedFrom({ tenant, run }, key));
    for (const key of [keys.link, keys.result, keys.log, keys.output]) assert.ok(doomed.includes(key), key);
    assert.ok(!doomed.includes(keys.session));
    const { evidence } = Result.parse(JSON.parse(record.get(recordKeys.result(tenant, run))?.toString() ?? ''));
    const said = { version: 1, run, tenant, by: 'anna', reason: 'r', at: new Date().toISOString() } as const;
    const signed = signErasure(root, { ...said, evidence: evidence?.sha256 ?? assert.fail() });
    record.set(recordKeys.erasure(tenant, run), Buffer.from(canonical(signed)));
    record.set(keys.log, flipped(record.get(keys.log)));
    assert.deepEqual(
      (await ofSteps({ record, run })).map(({ object }) => object),
      [keys.log],
    );
    for (const key of doomed) record.delete(key);
    assert.deepEqual(await ofSteps({ record, run }), []);
    record.delete(keys.session);
    assert.deepEqual(
      (await ofSteps({ record, run })).map(({ object }) => object),
      [keys.session],
    );
  });
});
