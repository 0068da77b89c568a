import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import * as frames from '@hotcell/contract/frames.ts';
import { postureFields } from '@hotcell/contract/frames-posture.ts';
import { maskedPaths, readonlyPaths } from '@hotcell/contract/cell-shape.ts';
import { answers } from '@hotcell/contract/posture/posture-tried.ts';

const source = (name: string) => readFileSync(join(import.meta.dirname, '../../../images/cell-init/src', name), 'utf8');
const proto = source('proto.h');

/** fileData → FILE_DATA */
const upper = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase();

const defined = new Map(
  [...proto.matchAll(/^#define (\w+) (0x[0-9a-f]+|\d+)$/gm)].map(([, name, value]) => [name, Number(value)]),
);

/** The names of an enum in order, with their numbers. */
function enumOf(text: string, name: string): [string, number][] {
  const body = new RegExp(`enum ${name} \\{([^}]*)\\}`).exec(text)?.[1] ?? '';
  let next = 0;
  return [...body.matchAll(/(\w+)(?:\s*=\s*(\d+))?\s*(?:,|$)/g)].map(([, word = '', value]) => {
    next = (value === undefined ? next : Number(value)) + 1;
    return [word, next - 1];
  });
}

const entries = (table: Readonly<Record<string, number>>, prefix: string) =>
  Object.entries(table).map(([name, value]) => [`${prefix}${upper(name)}`, value]);

describe('both sides of the cell protocol', () => {
  test('have the same header and bounds', () => {
    assert.equal(defined.get('MAGIC'), frames.protocol.magic);
    assert.equal(defined.get('VERSION'), frames.protocol.version);
    assert.equal(defined.get('HEADER_BYTES'), frames.protocol.headerBytes);
    assert.equal(defined.get('LIVES_ON'), frames.livesOn);
    assert.equal(defined.get('IN_PRELOAD'), frames.inPreload);
    const { lowestUid, ...limits } = frames.frameLimits;
    assert.equal(defined.get('LOWEST_UID'), lowestUid);
    for (const [name, value] of Object.entries(limits)) assert.equal(defined.get(`MAX_${upper(name)}`), value, name);
  });

  test('have the same types of frames', () => {
    const ours = entries({ ...frames.hostFrameTypes, ...frames.cellFrameTypes }, 'T_');
    const theirs = [...defined].filter(([name]) => name?.startsWith('T_'));
    assert.deepEqual(new Map(theirs), new Map(ours as [string, number][]));
  });

  test('have the same causes, stages, refusals and errors', () => {
    assert.deepEqual(enumOf(proto, 'stop_cause'), entries(frames.stopCauses, 'CAUSE_'));
    assert.deepEqual(enumOf(proto, 'start_stage').slice(1), entries(frames.startStages, 'STAGE_'));
    assert.deepEqual(enumOf(proto, 'refusal'), entries(frames.refusalReasons, 'REFUSE_'));
    assert.deepEqual(enumOf(proto, 'cell_error'), entries(frames.cellErrors, 'E_'));
  });

  test('know the same hidden paths and denied calls', () => {
    const listed = (name: string) => [...source(name).matchAll(/^ {4}\{?"([^"]+)"/gm)].map(([, text]) => text);
    assert.deepEqual(listed('hidden.c'), [...maskedPaths, ...readonlyPaths]);
    assert.deepEqual(listed('tried.c'), Object.keys(answers));
  });

  test('have the same records of the posture', () => {
    const ours = entries(Object.fromEntries(Object.entries(postureFields).map(([name, { key }]) => [name, key])), '');
    const theirs = enumOf(source('posture.h'), 'posture_key').map(([name, key]) => [name.replace('POSTURE_', ''), key]);
    assert.deepEqual(theirs, ours);
  });
});
