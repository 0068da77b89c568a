import { cellErrors, killReasons, refusalReasons, startStages, stopCauses } from '@hotcell/contract/frames.ts';
import type { CellFrame, RunEnd } from '@hotcell/executor-worker/cell/frames/decode.ts';
import { type PostureKind, type PostureRecord, postureFields } from '@hotcell/contract/frames-posture.ts';
import fc from 'fast-check';

/** Records as the parser makes them: with a prototype. */
const plain = <T extends object>(fields: { [K in keyof T]: fc.Arbitrary<T[K]> }) =>
  fc.record(fields, { noNullPrototype: true }) as fc.Arbitrary<T>;

/** Everything init may ever say, in an order in which it may say it. */
const number = fc.maxSafeNat();
const known = fc.option(number, { nil: undefined });
const keys = <T extends string>(table: Readonly<Record<T, number>>) => fc.constantFrom(...(Object.keys(table) as T[]));
const bytes = (maxLength: number) => fc.uint8Array({ minLength: 1, maxLength }).map((b) => Buffer.from(b));
const path = bytes(60).map((b) => Buffer.from(b.map((byte) => byte || 1)));

const account: fc.Arbitrary<RunEnd['account']> = plain({
  cpuUs: known,
  peakMemoryBytes: known,
  oomKills: known,
  maxRssBytes: known,
  peakPids: known,
  pidsRefused: known,
  atMemoryLimit: fc.option(fc.boolean(), { nil: undefined }),
  networkTries: known,
});

const cause = fc.oneof(
  keys(stopCauses)
    .filter((name) => name !== 'killed')
    .map((name) => ({ cause: name, killReason: undefined })),
  keys(killReasons).map((killReason) => ({ cause: 'killed' as const, killReason })),
);

const values: Record<PostureKind, fc.Arbitrary<unknown>> = {
  int: number,
  size: fc.oneof(number, fc.constant('unlimited')),
  mask: fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }).map((mask) => mask.toString(16).padStart(16, '0')),
  hex: bytes(32).map((b) => b.toString('hex')),
  text: fc.string({ maxLength: 40 }).map((text) => text.replaceAll('\\', '/')),
};

const record: fc.Arbitrary<PostureRecord> = fc.oneof(
  ...Object.entries(postureFields).map(([key, { fields }]) => {
    const kinds = Object.entries(fields) as [string, PostureKind][];
    const of = plain(Object.fromEntries(kinds.map(([name, kind]) => [name, values[kind]])));
    return of.map((found) => ({ key, ...found }) as unknown as PostureRecord);
  }),
);

const posture = fc
  .tuple(fc.array(record, { minLength: 1, maxLength: 8 }), bytes(32))
  .map(([records, nonce]): CellFrame[] => [
    ...records.map((one): CellFrame => ({ type: 'posture', record: one })),
    {
      type: 'postureEnd',
      nonce: Buffer.concat([nonce, Buffer.alloc(32)]).subarray(0, 32),
      records: records.length,
    },
  ]);

const logs = (index: number) =>
  fc.array(
    plain({
      type: fc.constant('log' as const),
      stream: fc.constantFrom('stdout' as const, 'stderr' as const),
      tail: fc.constant(false),
      index: fc.constant(index),
      atUs: number,
      bytes: bytes(300),
    }),
    { maxLength: 5 },
  );

const ended = plain({ atUs: number, wallUs: number, logBytes: number, account });

const block = (index: number) =>
  fc
    .tuple(number, logs(index), fc.nat(255), fc.integer({ min: 1, max: 64 }), fc.boolean(), cause, ended)
    .map(([atUs, chunks, exitCode, signal, exits, why, rest]): CellFrame[] => [
      { type: 'blockStarted', index, program: 0, atUs },
      ...chunks,
      {
        type: 'blockEnded',
        index,
        end: exits ? { how: 'exited', exitCode } : { how: 'signalled', signal },
        ...why,
        ...rest,
      },
    ]);

const unstarted = (index: number) =>
  fc
    .tuple(keys(startStages), fc.nat(200), cause, ended)
    .map(([stage, errno, why, rest]): CellFrame[] => [
      { type: 'blockEnded', index, end: { how: 'notStarted', stage, errno }, ...why, ...rest },
    ]);

const output = fc
  .tuple(path, fc.array(bytes(500), { maxLength: 4 }), fc.boolean())
  .map(([name, chunks, ok]): CellFrame[] => [
    { type: 'outputEntry', path: name, size: chunks.reduce((sum, chunk) => sum + chunk.length, ok ? 0 : 1) },
    ...chunks.map((chunk): CellFrame => ({ type: 'outputData', bytes: chunk })),
    { type: 'outputEnd', ok, errno: ok ? 0 : 5 },
  ]);

const refused = fc
  .tuple(keys(refusalReasons), fc.nat(200), path)
  .map(([reason, errno, name]): CellFrame[] => [{ type: 'outputRefused', reason, errno, path: name }]);

const left = fc
  .tuple(fc.boolean(), fc.array(path, { minLength: 1, maxLength: 10 }))
  .map(([more, names]): CellFrame[] => [{ type: 'workLeft', more, names }]);

const limited = (blocks: number) =>
  fc.tuple(number, number, number, logs(blocks - 1)).map(([atUs, stdout, stderr, chunks]) => ({
    limit: { type: 'logLimit', atUs, bytes: stdout } satisfies CellFrame,
    tail: [
      { type: 'logTail', droppedStdout: stdout, droppedStderr: stderr } satisfies CellFrame,
      ...chunks.map((chunk): CellFrame => ({ ...chunk, tail: true })),
    ],
  }));

const last = (blocks: number): fc.Arbitrary<CellFrame> =>
  plain({
    wallUs: number,
    account,
    stdoutBytes: number,
    stderrBytes: number,
    droppedBytes: number,
    outputFiles: fc.nat(),
    outputBytes: number,
    outputsRefused: number,
    outputFilesExceeded: fc.boolean(),
    outputBytesExceeded: fc.boolean(),
    outputsIncomplete: fc.boolean(),
  }).chain((end) => cause.map((why) => ({ type: 'end', end: { ...end, ...why, blocks } })));

const error: fc.Arbitrary<CellFrame> = plain({
  type: fc.constant('error' as const),
  code: keys(cellErrors),
  errno: fc.nat(200),
  text: fc.string({ maxLength: 80 }),
});

export const conversation: fc.Arbitrary<CellFrame[]> = fc.integer({ min: 1, max: 3 }).chain((blocks) =>
  fc
    .tuple(
      fc.array(posture, { minLength: 1, maxLength: 2 }),
      fc.tuple(...Array.from({ length: blocks }, (_, index) => fc.oneof(block(index), unstarted(index)))),
      fc.option(limited(blocks), { nil: undefined }),
      fc.oneof(fc.constant([]), left),
      fc.array(fc.oneof(output, refused), { maxLength: 4 }),
      fc.oneof(last(blocks), error),
    )
    .map(([postures, run, limit, workLeft, outputs, over]) => {
      const body = run.flat();
      // The limit is passed while a block runs; when none ran, nothing was written.
      const at = limit
        ? body.findLastIndex((frame) => frame.type === 'blockEnded' && frame.end.how !== 'notStarted')
        : -1;
      if (limit && at >= 0) body.splice(at, 0, limit.limit);
      const tail = limit && at >= 0 ? limit.tail : [];
      // What follows the limit in the same stream must not be log any more.
      const quiet = at >= 0 ? body.filter((frame, index) => index < at || frame.type !== 'log') : body;
      return [
        { type: 'ready', version: 1, machine: 'x86_64' } satisfies CellFrame,
        ...postures.flat(),
        ...quiet,
        ...workLeft,
        ...tail,
        ...outputs.flat(),
        over,
      ];
    }),
);
