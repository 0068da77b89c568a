import type { KeyList } from '@hotcell/contract/evidence/key-list.ts';
import type { Verdict } from '@hotcell/contract/evidence/verdict.ts';
import type { Result } from '@hotcell/contract/result.ts';
import type { Signer } from '@hotcell/record/signer.ts';
import type { EditedRecord } from '../support/edited-record.ts';
import { type PlaceName, placesOfRun } from './recorded-objects.ts';

/** Two runs of one tenant under one policy, the keys of those who signed, and the record that they lie in. */
export interface Scene {
  record: EditedRecord;
  subject: Result;
  neighbour: Result;
  /** Of the worker that executed both, of another one, and of the producer: all on the list of keys. */
  signers: Readonly<Record<'worker' | 'other' | 'producer', Signer>>;
  relist: (change: (key: KeyList['keys'][number]) => KeyList['keys'][number]) => Promise<void>;
}

export interface Row {
  what: string;
  edit: (scene: Scene) => Promise<unknown>;
  verdict: Verdict;
  /** Which object of the subject is named first. */
  object: PlaceName;
  /** The neighbour relies on the same object. */
  shared?: boolean;
  /** Verified so long after the run. */
  laterMs?: number;
}

const shared: readonly PlaceName[] = ['policy', 'list of the image', 'seccomp profile'];
const places: readonly PlaceName[] = [
  ...(['spec', 'result', 'evidence', 'log', 'output', 'other output', 'list of outputs'] as const),
  ...(['list of inputs', 'map of inputs', 'posture'] as const),
  ...shared,
];

const changed = (bytes: Buffer) => {
  const other = Buffer.from(bytes);
  const middle = other.length >> 1;
  other.writeUInt8(other.readUInt8(middle) ^ 1, middle);
  return other;
};

type Edit = (record: EditedRecord, key: string, ofNeighbour: string) => Promise<unknown>;
/** What one who can write to the bucket, or to the store's disk, does to any object. */
const edits: Readonly<Record<string, [edit: Edit, verdict: Verdict]>> = {
  'with one bit turned': [(record, key) => record.rewrite(key, changed(record.original(key))), 'MODIFIED'],
  'that is cut off': [
    (record, key) => record.rewrite(key, record.original(key).subarray(0, record.original(key).length >> 1)),
    'MODIFIED',
  ],
  'that is empty': [(record, key) => record.rewrite(key, Buffer.alloc(0)), 'MODIFIED'],
  'with another put over it': [(record, key) => record.put(key, changed(record.original(key))), 'MODIFIED'],
  'that is another run’s': [(record, key, other) => record.rewrite(key, record.original(other)), 'MODIFIED'],
  'that is gone': [(record, key) => record.remove(key), 'MISSING'],
  'that a deletion hides': [(record, key) => record.hide(key), 'MISSING'],
};

/** Each edit of each object of a run. */
export const onObjects: Row[] = places.flatMap((object) =>
  Object.entries(edits)
    .filter(([name]) => !(shared.includes(object) && name === 'that is another run’s'))
    .map(([name, [edit, verdict]]): Row => {
      // Evidence alone may also be that of a writer which died before it put the result.
      const isPending = object === 'result' && name === 'that is gone';
      return {
        what: `the ${object} ${name}`,
        edit: ({ record, subject, neighbour }) =>
          edit(record, placesOfRun(record, subject)[object], placesOfRun(record, neighbour)[object]),
        verdict: isPending ? 'PENDING' : verdict,
        object,
        shared: shared.includes(object),
      };
    }),
);

/** The bytes are right again; the versions of the bucket tell. */
export const replayed: Row[] = (['spec', 'result', 'evidence', 'log'] as const).map((object) => ({
  what: `the ${object} whose older version was put over a newer one`,
  async edit({ record, subject }) {
    const key = placesOfRun(record, subject)[object];
    await record.put(key, changed(record.original(key)));
    await record.put(key, record.original(key));
  },
  verdict: 'MODIFIED',
  object,
}));

/** The same of what the steps of a session leave. */
const stepPlaces = ['record of a step', 'result of a step', 'log of a step', 'thing that a step showed'] as const;
export const stepEdits = stepPlaces.flatMap((object) =>
  Object.entries(edits)
    .filter(([name]) => name !== 'that is another run’s')
    .map(([name, [edit, verdict]]) => ({
      what: `the ${object} ${name}`,
      edit: (record: EditedRecord, key: string) => edit(record, key, key),
      verdict,
      object,
    })),
);

/** Past a day and three times the longest time limit there is. */
const monthMs = 30 * 24 * 60 * 60 * 1000;
export const later: Row[] = [
  {
    what: 'a result that is gone, after the deadline',
    edit: ({ record, subject }) => record.remove(placesOfRun(record, subject).result),
    verdict: 'MISSING',
    object: 'result',
    laterMs: monthMs,
  },
  {
    what: 'the log of a run alone, without its result and evidence, before the deadline',
    edit: ({ record, subject }) => withoutEnd(record, subject),
    verdict: 'PENDING',
    object: 'result',
  },
  {
    what: 'the log of a run alone, without its result and evidence, after the deadline',
    edit: ({ record, subject }) => withoutEnd(record, subject),
    verdict: 'OPEN',
    object: 'result',
    laterMs: monthMs,
  },
];

async function withoutEnd(record: EditedRecord, subject: Result): Promise<void> {
  const { result, evidence } = placesOfRun(record, subject);
  for (const key of [result, evidence]) await record.remove(key);
}
