import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, test } from 'node:test';
import { linesOf } from '@hotcell/contract/api/lines.ts';
import { protocol } from '@hotcell/contract/frames.ts';
import { languages } from '@hotcell/contract/languages.ts';
import { formPosture } from '@hotcell/contract/posture-form.ts';
import type { TakenPosture } from '@hotcell/contract/posture.ts';
import { sha256 } from '@hotcell/contract/digest.ts';
import { judgeWorkspace } from '@hotcell/contract/judge-workspace.ts';
import { manifestOf, readManifest, type SnapshotEntry } from '@hotcell/contract/snapshot.ts';
import type { Spec } from '@hotcell/contract/spec.ts';
import { judgeGraph } from '@hotcell/contract/workflow-graph.ts';
import { FrameParser } from '@hotcell/executor-worker/cell/frames/stream.ts';
import { prepareJob } from '@hotcell/executor-worker/execute/job.ts';
import { LogWindow } from '@hotcell/executor-worker/logs/window.ts';
import { encodeName, representable } from '@hotcell/executor-worker/outputs/output-names.ts';
import { demux } from '@hotcell/outside/engine/demux.ts';
import { openEnvelope } from '@hotcell/outside/queue/envelope.ts';
import { parseBody } from '@hotcell/producer/api/body.ts';
import { sourceForm } from '@hotcell/producer/snapshots/source.ts';
import { attemptOf, markerOf } from '@hotcell/record/layout.ts';
import { casLocation, locationsOf, readLocations } from '@hotcell/record/snapshot-locations.ts';
import { growsNoFaster, type Hostile } from '../support/growth.ts';
import { testLimits } from '../support/limits.ts';
import { policyOf } from '../support/policies.ts';

const of = (size: number) => Array.from({ length: size }, (_, i) => i);

function frame(type: number, payload: Buffer): Buffer {
  const header = Buffer.from([protocol.magic, protocol.version, type, 0, 0, 0, 0, 0]);
  header.writeUInt32LE(payload.length, 4);
  return Buffer.concat([header, payload]);
}

async function* inPieces(bytes: Buffer, length: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += length) yield bytes.subarray(at, at + length);
}

/** Pieces of the engine's stream, each of one byte. */
const pieces = (size: number) => Buffer.concat(of(size).map(() => Buffer.from([1, 0, 0, 0, 0, 0, 0, 1, 0x61])));
const drained = async (rows: AsyncIterable<unknown>) => {
  for await (const _ of rows);
};

/** What strangers, cells and the network send to what reads it in the other rooms. */
const hostile: Readonly<Record<string, Hostile>> = {
  'a body of quotes and backslashes': {
    size: 50_000,
    make: (size) => Buffer.from(`"${'\\"'.repeat(size)}`),
    read: parseBody,
  },
  'a body of backslashes': { size: 200_000, make: (size) => Buffer.from(`"${'\\'.repeat(size)}"`), read: parseBody },
  'a body of empty texts': { size: 20_000, make: (size) => Buffer.from(`[${'"",'.repeat(size)}""]`), read: parseBody },
  'a body of half characters': {
    size: 20_000,
    make: (size) => Buffer.from(JSON.stringify(of(size).map((i) => `${i}`)).replace('"0"', '"\\ud800"')),
    read: parseBody,
  },
  'a posture of words': {
    size: 50_000,
    make: (size) => ({ inside: { mount: of(size).map((i) => `point=/${i} {cell}`) }, outside: {}, worth: '' }),
    read: (posture: TakenPosture) => formPosture(posture, { cell: '1234' }),
  },
  'a source of slashes': { size: 200_000, make: (size) => `s3:/${'/'.repeat(size)}`, read: sourceForm },
  'a source of newlines': { size: 200_000, make: (size) => `s3://a${'\n'.repeat(size)}`, read: sourceForm },
  'a key of slashes': { size: 200_000, make: (size) => `runs/${'1/'.repeat(size)}log.ndjson.zst`, read: attemptOf },
  'a marker of slashes': { size: 200_000, make: (size) => `open/${'a/'.repeat(size)}`, read: markerOf },
  'a ticket of many fields': {
    size: 5_000,
    make: (size) => ({ name: 'run', data: Object.fromEntries(of(size).map((i) => [`f${i}`, i])) }),
    read: openEnvelope,
  },
  'a map of locations': {
    size: 2_000,
    make: (size) => {
      const files = of(size).map((i) => ({ path: `${i}`, size: i, sha256: sha256(`${i}`) }));
      const located = files.map((file) => ({ ...file, location: casLocation('record', 't', file.sha256) }));
      return { ...locationsOf(located), manifest: manifestOf(files) };
    },
    read: ({ text, digest, manifest }: ReturnType<typeof locationsOf> & { manifest: ReturnType<typeof manifestOf> }) =>
      readLocations(text, digest, readManifest(manifest.text, manifest.id)),
  },
  'a frame that comes byte by byte': {
    size: 20_000,
    make: (size) => frame(5, Buffer.alloc(size, 0x61)),
    read: (bytes: Buffer) => {
      const parser = new FrameParser();
      for (let at = 0; at < bytes.length; at++) parser.push(bytes.subarray(at, at + 1));
    },
  },
  'an output’s name of bytes that no text has': {
    size: 50_000,
    make: (size) => Buffer.alloc(size, 0xff),
    read: encodeName,
  },
  'an output’s name of signs': { size: 50_000, make: (size) => Buffer.alloc(size, '%'), read: encodeName },
  'an output’s name of slashes': { size: 200_000, make: (size) => Buffer.alloc(size, 'a/'), read: representable },
  'a log of single bytes': {
    size: 5_000,
    make: (size) => size,
    read: (size: number) => {
      const window = new LogWindow({ headBytes: 10, tailBytes: 1_000 });
      for (let i = 0; i < size; i++)
        window.push(0, i % 2 ? 'stdout' : 'stderr', new Date(0), Buffer.from([0x61 + (i % 3)]));
    },
  },
  'a log of half characters': {
    size: 5_000,
    make: (size) => size,
    read: (size: number) => {
      const window = new LogWindow({ headBytes: 1_000_000, tailBytes: 1_000 });
      for (let i = 0; i < size; i++) window.push(0, 'stdout', new Date(0), Buffer.from([0x80]));
    },
  },
  'blocks that the worker prepares': {
    size: 12,
    make: (size) => ({
      blocks: of(size).map(() => ({ language: 'python', code: '# filename: a\n'.repeat(5_000) })),
      files: [],
    }),
    read: (spec: Pick<Spec, 'blocks' | 'files'>) => prepareJob(spec, languages),
  },
  'an engine’s stream of single bytes': {
    size: 5_000,
    make: pieces,
    read: async (bytes: Buffer) => await drained(demux(inPieces(bytes, 1_000))),
  },
  'a workspace of deep paths': {
    size: 20_000,
    make: (size) => of(size).map((i) => ({ path: `${'d/'.repeat(60)}${i}`, size: 0, sha256: sha256('') })),
    read: (entries: SnapshotEntry[]) =>
      judgeWorkspace(entries, { bytes: 0, inodes: 1, paths: [] }, testLimits, policyOf({})),
  },
  'a workflow of steps that wait for each other': {
    size: 2_000,
    make: (size) => Object.fromEntries(of(size).map((i) => [`s${i}`, { needs: [`s${(i + 1) % size}`], inputs: {} }])),
    read: judgeGraph,
  },
  'a workflow of steps that all need one': {
    size: 2_000,
    make: (size) => Object.fromEntries(of(size).map((i) => [`s${i}`, { needs: i > 0 ? ['s0'] : [], inputs: {} }])),
    read: judgeGraph,
  },
  'a workflow of needs that are no steps': {
    size: 500,
    make: (size) => Object.fromEntries(of(size).map((i) => [`s${i}`, { needs: [`none${i}`], inputs: {} }])),
    read: judgeGraph,
  },
  'an answer of one long line': {
    size: 200_000,
    make: (size) => Buffer.alloc(size, 0x61),
    read: async (bytes: Buffer) => await drained(linesOf(new Response(ReadableStream.from(inPieces(bytes, 100))))),
  },
};

describe('what reads strange bytes in the other rooms takes time in proportion to them', () => {
  for (const [name, input] of Object.entries(hostile)) test(name, () => growsNoFaster(input));
});

/** Read by what has a case, or told only by the operator, and why. */
const without: Readonly<Record<string, string>> = {
  explainIssues: 'by readRunRequest',
  parseAs: 'by readSources',
  parseJsonAs: 'by readSources',
  parseOurs: 'by parseKept',
  judgeErasure: 'it compares a few fields',
  judgeItemRequest: 'it looks at a few fields',
  judgeLaidOut: 'by admit',
  judgeListed: 'of at most 1,000 items, each of which is measured once',
  parseRow: 'by parseKept',
  parseSessionRequest: 'by readRunRequest',
  judgeStep: 'by admit',
  judgeTerms: 'it looks at two fields',
  readAnswer: 'by parseKept',
  parseExplained: 'by readRunRequest',
  parseWithout: 'by parseKept',
  parseRunRequest: 'by readRunRequest',
  readBundle: 'by tryBundle',
  readLines: 'by readManifest',
  judgeBlocks: 'by admit',
  judgeEnv: 'by admit',
  judgeInputSizes: 'by judgeInputs',
  judgeLimits: 'by admit',
  screenStep: 'by screen',
  judgeRest: 'by admit',
  resolveBlocks: 'by admit',
  resolvePolicy: 'of a file of 64 KiB, which the operator wrote',
  mergePolicies: 'of a file of 64 KiB, which the operator wrote',
  readImagesLock: 'a file of the operator',
  readSeccomp: 'files of this checkout',
  readPreloads: 'files of this checkout',
  readTests: 'files of the operator',
  readTexts: 'files of the operator',
};

test('every function that reads, parses or judges has a case here, or a reason why not', () => {
  const root = resolve(import.meta.dirname, '../..');
  const cases = ['linear-rooms.test.ts', 'contract/linear.test.ts', 'contract/linear-records.test.ts'].map((name) =>
    readFileSync(join(import.meta.dirname, name), 'utf8'),
  );
  const files = globSync('{contract,policies}/**/*.ts', { cwd: root, exclude: (name) => name === 'node_modules' });
  const readers = files.flatMap((file) => [
    ...readFileSync(join(root, file), 'utf8').matchAll(
      /^export (?:async )?function\*? ((?:parse|read|judge|screen|admit|resolve|merge|explain|diff|nearest|matches|missingIn)\w*)/gm,
    ),
  ]);
  const names = readers.flatMap(([, name]) => name ?? []);
  assert.ok(names.length > 20, 'the search finds no functions any more');
  const missing = names.filter((name) => !cases.some((text) => text.includes(name)));
  assert.deepEqual(missing, []);
  assert.deepEqual(
    Object.keys(without).filter((name) => !names.includes(name)),
    [],
    'these are no functions any more',
  );
});
