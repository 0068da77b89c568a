import { describe, test } from 'node:test';
import { judgeInputs, judgeSpec } from '@hotcell/contract/admission.ts';
import type { InputFacts } from '@hotcell/contract/admission-rules.ts';
import { canonical, sha256 } from '@hotcell/contract/digest.ts';
import { differencesOf } from '@hotcell/contract/evidence/json-differences.ts';
import { tryBundle } from '@hotcell/contract/evidence/evidence-bundle.ts';
import { readKeyList, readKeyRequest, signKeyList, signKeyRequest } from '@hotcell/contract/evidence/key-list.ts';
import { readErasure } from '@hotcell/contract/evidence/erasure.ts';
import { readReceipt } from '@hotcell/contract/evidence/receipt.ts';
import { seal } from '@hotcell/contract/evidence/dsse.ts';
import { SigningKey } from '@hotcell/contract/evidence/signing-key.ts';
import { readNameVersion } from '@hotcell/contract/names.ts';
import { parseKept } from '@hotcell/contract/parse.ts';
import { manifestOf, readManifest, type SnapshotEntry } from '@hotcell/contract/snapshot.ts';
import { diffOf } from '@hotcell/contract/snapshot-diff.ts';
import { nameProblems } from '@hotcell/contract/snapshot-names.ts';
import { readSources } from '@hotcell/contract/sources.ts';
import type { Spec } from '@hotcell/contract/spec.ts';
import { DoneMarker } from '@hotcell/record/schemas.ts';
import { growsNoFaster, type Hostile } from '../../support/growth.ts';
import { policyOf } from '../../support/policies.ts';
import { specFor } from '../../support/spec.ts';

/** The first letter of a name spelled in as many ways as asked: capitals by the bits of a counter. */
function spellings(count: number): string[] {
  const letters = Array.from({ length: 16 }, (_, at) => String.fromCharCode(97 + at));
  return Array.from({ length: count }, (_, i) =>
    letters.map((letter, bit) => ((i >> bit) & 1 ? letter.toUpperCase() : letter)).join(''),
  );
}

const readsManifest = ({ text, id }: { text: string; id: string }) => readManifest(text, id);
const policy = policyOf({ images: ['python'], languages: ['python'] }, 'any');
const of = (size: number) => Array.from({ length: size }, (_, i) => i);
const hashOf = (i: number) => sha256(String(i));
const entriesOf = (size: number) => of(size).map((i) => ({ path: `a/${i}`, size: i, sha256: hashOf(i) }));

const root = new SigningKey(SigningKey.generate());
const listed = (i: number) => ({
  role: 'worker' as const,
  name: `w${i}`,
  fingerprint: hashOf(i),
  publicKey: '',
  from: at,
});
const at = '2026-01-01T00:00:00.000Z';

/** What lies in a record or comes with it: names, lists of files, and what is signed. */
const hostile: Readonly<Record<string, Hostile>> = {
  'a bundle with a long payload': {
    size: 50_000,
    make: (size) => {
      const dsseEnvelope = seal(root, 'a type', Buffer.alloc(size, 1));
      const publicKey = { hint: root.fingerprint };
      const mediaType = 'application/vnd.dev.sigstore.bundle.v0.3+json';
      return canonical({ mediaType, verificationMaterial: { publicKey }, dsseEnvelope });
    },
    read: tryBundle,
  },
  'a receipt of many members': {
    size: 5_000,
    make: (size) =>
      seal(root, 'a type', Buffer.from(JSON.stringify(Object.fromEntries(of(size).map((i) => [`m${i}`, i]))))),
    read: (receipt: Parameters<typeof readReceipt>[0]) => {
      try {
        readReceipt(receipt);
      } catch {
        // It is no promise.
      }
    },
  },
  'an erasure of many members': {
    size: 5_000,
    make: (size) =>
      seal(root, 'a type', Buffer.from(JSON.stringify(Object.fromEntries(of(size).map((i) => [`m${i}`, i]))))),
    read: (erasure: Parameters<typeof readErasure>[0]) => {
      try {
        readErasure(erasure);
      } catch {
        // It erases nothing.
      }
    },
  },
  'a list of many keys': {
    size: 300,
    make: (size) =>
      signKeyList(root, { version: 1, installation: 'i', number: 1, issuedAt: at, keys: of(size).map(listed) }),
    read: (list: Parameters<typeof readKeyList>[0]) => readKeyList(list, [root.public]),
  },
  'a request with a long name': {
    size: 50_000,
    make: (size) =>
      signKeyRequest(root, { version: 1, role: 'worker', name: 'n'.repeat(size), publicKey: '', madeAt: at }),
    read: (request: Parameters<typeof readKeyRequest>[0]) => {
      try {
        readKeyRequest(request);
      } catch {
        // Its name is too long.
      }
    },
  },
  'two values that differ in every member': {
    size: 5_000,
    make: (size) => [of(size), of(size).map((i) => -i - 1)] as const,
    read: ([one, other]: readonly [number[], number[]]) => differencesOf(one, other),
  },
  'many spellings of one name': { size: 600, make: spellings, read: nameProblems },
  'many spellings of one folder': {
    size: 600,
    make: (size) => spellings(size).map((name) => `${name}/x/y`),
    read: nameProblems,
  },
  'deep paths that share nothing': {
    size: 200,
    make: (size) => Array.from({ length: size }, (_, i) => `${i}${'/a'.repeat(1_700)}`),
    read: nameProblems,
  },
  'deep paths in folders that are taken for one': {
    size: 500,
    make: (size) => Array.from({ length: size }, (_, i) => `${(i % 2 ? 'x/' : 'X/').repeat(100)}${i}`),
    read: nameProblems,
  },
  'a spec of many inputs': {
    size: 5_000,
    make: (size) => ({ ...specFor('t', ''), inputs: of(size).map((i) => ({ name: `i${i}` })) }),
    read: (spec: Spec) => judgeSpec(spec, policy),
  },
  'inputs of many files': {
    size: 50_000,
    make: (size) => of(size).map((i) => ({ name: `i${i}`, files: i, bytes: i })),
    read: (inputs: InputFacts[]) => judgeInputs(policy, inputs),
  },
  'a manifest': { size: 2_000, make: (size) => manifestOf(entriesOf(size)), read: readsManifest },
  'a manifest of names that begin alike': {
    size: 300,
    make: (size) => manifestOf(of(size).map((i) => ({ path: `${'a/'.repeat(700)}${i}`, size: 1, sha256: hashOf(1) }))),
    read: readsManifest,
  },
  'a manifest of empty lines': {
    size: 50_000,
    make: (size) => ({ text: '\n'.repeat(size), id: sha256('\n'.repeat(size)) }),
    read: readsManifest,
  },
  'files in the worst order': { size: 5_000, make: (size) => entriesOf(size).toReversed(), read: manifestOf },
  'two snapshots without a common file': {
    size: 10_000,
    make: (size) => [entriesOf(size), entriesOf(size).map((entry) => ({ ...entry, path: `b/${entry.path}` }))],
    read: ([before, after]: SnapshotEntry[][]) => diffOf(before ?? [], after ?? []),
  },
  'an object of many unknown fields': {
    size: 10_000,
    make: (size) => JSON.stringify(Object.fromEntries(of(size).map((i) => [`field${i}`, { [`inner${i}`]: i }]))),
    read: (text: string) => parseKept(DoneMarker, text, 'it', 'record_damaged'),
  },
  'an object with everything wrong': {
    size: 5_000,
    make: (size) => JSON.stringify({ version: 1, sources: of(size) }),
    read: readSources,
  },
  'a canonical form of many keys': {
    size: 5_000,
    make: (size) => Object.fromEntries(of(size).map((i) => [`${(i * 7919) % size}-é`, i])),
    read: canonical,
  },
  'a version of a name without end': {
    size: 100_000,
    make: (size) => `a@{2026-11-01T${'1:'.repeat(size)}Z}`,
    read: readNameVersion,
  },
};

describe('the time that a stranger’s record takes grows with its size and no faster', () => {
  for (const [name, input] of Object.entries(hostile)) test(name, () => growsNoFaster(input));
});
