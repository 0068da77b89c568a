import { HotcellError } from '@hotcell/contract/errors.ts';
import { answerCalls } from '@hotcell/outside/process/thread-calls.ts';

/** The functions of a thread that `threads.test.ts` calls. */
const calls = (data: unknown) => {
  let called = 0;
  return {
    given: () => data,
    /** How often this thread was called. */
    count: () => ++called,
    /** Keeps the thread at work until the number that is shared with it is set. */
    holdUntilSet: (flag: Int32Array) => void Atomics.wait(flag, 0, 0),
    grow: (bytes: Uint8Array) => ({ bytes: Buffer.concat([bytes, Buffer.alloc(1_000_000)]), was: bytes.length }),
    refuse: () => {
      throw new HotcellError('not_found', 'There is none.', {
        issues: [{ path: 'a', message: 'm' }],
        extra: { limit: 3 },
      });
    },
    fail: () => {
      throw new Error('it broke');
    },
    die: () => process.exit(3),
  };
};
export type TestCalls = ReturnType<typeof calls>;

answerCalls(calls);
