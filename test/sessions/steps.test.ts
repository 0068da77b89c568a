import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Hotcell, Session } from '@hotcell/client/index.ts';
import { HotcellError } from '@hotcell/contract/errors.ts';
import { readStep } from '@hotcell/record/session-steps.ts';
import { type Bed, openBed } from '../support/bed.ts';
import type { Child } from '../support/child.ts';
import { type House, openHouse } from '../support/house.ts';
import { type RunningProducer, settle, startProducer } from '../support/producer.ts';
import { spawnWorker } from '../support/real-worker.ts';

/** Sessions over HTTP, in sealed cells: what a step leaves to the next one, and what the record says of all of them. */
let bed: Bed;
let house: House;
let producer: RunningProducer;
let worker: Child;
let hotcell: Hotcell;

before(async () => {
  bed = await openBed();
  house = await openHouse(bed);
  producer = await startProducer(bed, house);
  worker = await spawnWorker(bed, house, 'one', { HOTCELL_QUEUES: 'runc,gvisor' });
  hotcell = await producer.client();
});
after(async () => {
  await settle(house, producer);
  await worker.stop();
  await house[Symbol.asyncDispose]();
  await bed[Symbol.asyncDispose]();
});

const bash = { language: 'bash' };

/** The text that a step of Python showed last. */
async function shown(session: Session, code: string): Promise<string | undefined> {
  const step = await session.run(code);
  return step.outputs.findLast(({ type }) => type === 'text/plain')?.text ?? step.reason;
}

test('what the interpreter may say in all counts messages too: empty ones are not free', async () => {
  await using session = await hotcell.session({ policy: 'sealed', limits: { outputBytes: 1024 ** 2 } });
  assert.equal(await shown(session, '1'), '1');
  const flood = await session.run(`
import gc
channel = next(one for one in gc.get_objects() if type(one).__name__ == 'Channel')
for _ in range(17_000): channel.say(2, b'')
`);
  assert.equal(flood.outcome, 'succeeded', flood.reason);
  const after = await session.run('2');
  assert.deepEqual([after.outcome, after.outputs], ['succeeded', []]);
});

for (const policy of ['sealed', 'hostile-gvisor'])
  describe(`a session under ${policy}`, () => {
    let session: Session;
    before(async () => {
      session = await hotcell.session({ policy });
    });

    test('keeps the names of its Python steps, and the files of all', async () => {
      await session.run('x = 41; open("kept", "w").write("by python")');
      const step = await session.run('x += 1\nprint("said")\nx');
      assert.equal(step.stdout, 'said\n');
      assert.equal(step.outputs[0]?.text, '42');
      assert.equal(step.saidBy, 'job');
      const other = await session.run('cat kept; echo; echo late >&2; exit 3', bash);
      assert.deepEqual([other.stdout, other.stderr, other.exitCode], ['by python\n', 'late\n', 3]);
      assert.deepEqual([other.outcome, other.saidBy], ['failed', 'cell']);
      assert.equal(await shown(session, 'x'), '42');
    });

    test('goes on after a step that failed, and names its error', async () => {
      const step = await session.run('1/0');
      assert.deepEqual([step.outcome, step.exitCode, step.error?.name], ['failed', 1, 'ZeroDivisionError']);
      assert.match(step.stderr ?? '', /ZeroDivisionError/);
      assert.equal(await shown(session, '_'), '42');
    });

    test('shows as IPython does: magics, shell lines, await, tables and pictures', async () => {
      const step = await session.run('!echo $x\nawait __import__("asyncio").sleep(0)\n%who int');
      assert.deepEqual([step.stdout, step.outcome], ['42\nx\t \n', 'succeeded']);
      const rich = await session.run(
        'import pandas as pd, matplotlib.pyplot as plt\nplt.plot([1, 2])\ndisplay(pd.DataFrame({"a": [1]}))',
      );
      const types = rich.outputs.map(({ type }) => type);
      assert.ok(types.includes('text/html') && types.includes('image/png'), types.join());
      const picture = await session.shown(rich.index, types.indexOf('image/png'));
      assert.equal(picture.subarray(1, 4).toString(), 'PNG');
    });

    test('has no input', async () => {
      const step = await session.run('input("?")');
      assert.match(step.reason, /A step of a session has no input/);
    });

    test('interrupts a step that takes too long, and keeps its names', async () => {
      const step = await session.run('while True: pass', { timeoutSeconds: 1 });
      assert.equal(step.outcome, 'timed_out');
      assert.equal(await shown(session, 'x'), '42');
    });

    test('interrupts a step when it is asked to', async () => {
      for (const [code, language] of [
        ['print("on")\nwhile True: pass', 'python'],
        ['echo on; sleep 1000', 'bash'],
      ]) {
        const begun = await session.begin({ language: language ?? '', code: code ?? '' });
        for await (const row of session.logs()) if (row.block === begun.index) break;
        await session.interrupt(begun.index);
        const step = await session.stepEnd(begun.index);
        assert.deepEqual([step.outcome, step.exitCode, step.stdout], ['cancelled', 130, 'on\n'], step.reason);
      }
      assert.equal(await shown(session, 'x'), '42');
    });

    test('takes a new interpreter when a step ends the old one, and says so', async () => {
      const step = await session.run('import os; os._exit(4)');
      assert.deepEqual([step.outcome, step.exitCode, step.saidBy], ['failed', 4, 'cell']);
      assert.match(step.reason, /the next step finds a new one/);
      const next = await session.run('x');
      assert.deepEqual([next.error?.name, next.interpreter], ['NameError', 2]);
    });

    test('takes a new interpreter when the old one died while a step of another kind ran, and says so', async () => {
      const step = await session.run('import os; open("pid", "w").write(str(os.getpid())); y = 1');
      assert.equal(step.interpreter, 2);
      await session.run('kill -KILL "$(cat pid)"; while kill -0 "$(cat pid)"; do :; done', bash);
      const next = await session.run('y');
      assert.deepEqual([next.error?.name, next.interpreter], ['NameError', 3]);
      assert.match(next.reason, /in a new interpreter, without the names of the steps before/);
      const after = await session.run('1');
      assert.deepEqual([after.interpreter, after.reason], [3, 'The step ended with exit code 0.']);
    });

    test('ends in one result with the chain of its steps, which verifies', async () => {
      await session.run('open("/outputs/last.txt", "w").write("kept")');
      const result = await session.finish();
      assert.equal(result.outcome, 'succeeded', result.reason);
      assert.deepEqual(
        result.outputs.files.map(({ path }) => path),
        ['last.txt'],
      );
      const steps = result.steps ?? [];
      assert.deepEqual(
        steps.map(({ index }) => index),
        steps.map((_, i) => i),
      );
      let before = result.spec;
      for (const { index, step, code } of steps) {
        const link = await readStep(house.store, house.tenant, session.id, index);
        assert.equal(link?.digest, step);
        assert.equal(link.value.before, before);
        assert.ok(link.value.kind === 'step' && link.value.code === code);
        before = step;
      }
    });

    test('takes no step when it is over', async () => {
      await assert.rejects(session.run('1'), (error: unknown) => {
        assert.ok(error instanceof HotcellError);
        assert.equal(error.code, 'finished_already');
        return true;
      });
    });
  });
