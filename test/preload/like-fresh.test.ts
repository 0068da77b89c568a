import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { type Bed, openBed } from '../support/bed.ts';
import { type PreloadCells, openPreloadCells, type Shown } from '../support/preload-cells.ts';

/**
 * Programs give the same, byte for byte, in a preload and in a fresh interpreter: what they write, how they end, what they
 * leave. Each of them imports the preload's roots first, so that it runs in the preload.
 */
const folder = join(import.meta.dirname, 'programs');
const programs = (await readdir(folder)).filter((name) => name.endsWith('.py'));

/** Addresses and numbers of processes and threads differ from cell to cell, whatever runs in it. */
const alike = (text: string) => text.replaceAll(/0x[0-9a-f]+|(?<=pid=|started )\d+/g, '…');
const alikeIn = ({ stdout, stderr, ...rest }: Shown) => ({ ...rest, stdout: alike(stdout), stderr: alike(stderr) });

let bed: Bed;
let cells: PreloadCells;
before(async () => {
  bed = await openBed();
  cells = await openPreloadCells(bed, 'like-fresh');
});
after(async () => {
  await cells?.[Symbol.asyncDispose]();
  await bed?.[Symbol.asyncDispose]();
});

suite('in a preload', () => {
  for (const name of programs)
    test(`${name} is as in a fresh interpreter`, async () => {
      const code = await readFile(join(folder, name), 'utf8');
      const [preloaded, fresh] = await Promise.all([cells.show(code, 'preloaded'), cells.show(code, 'fresh')]);
      assert.ok(preloaded.inPreload && !fresh.inPreload);
      assert.deepEqual(alikeIn({ ...preloaded, inPreload: false }), alikeIn(fresh));
    });
});

/** The one difference that shows which of the two it is: what was loaded while the cell waited comes first. */
const order = "import sys; names = list(sys.modules); print(names.index('colorsys') < names.index('pandas'))";

suite('where a program decides', () => {
  const becomesFresh: [string, string, string][] = [
    ['imports the roots first', `import colorsys\nimport pandas\n${order}`, 'False'],
    ['does something else first', `x = 1\nimport colorsys\nimport pandas\n${order}`, 'True'],
    ['imports a file of its own first', `import helper\nimport colorsys\nimport pandas\n${order}`, 'True'],
  ];
  for (const [what, code, isFresh] of becomesFresh)
    test(`one that ${what} runs ${isFresh === 'True' ? 'in a fresh interpreter' : 'in the preload'}`, async () => {
      const { stdout, stderr, ends } = await cells.show(code, 'preloaded');
      assert.deepEqual({ stdout, stderr, ends }, { stdout: `${isFresh}\n`, stderr: '', ends: [0] });
    });

  test('only plain imports count as such', async () => {
    const text = await readFile(join(import.meta.dirname, '../../images/preloads/pandas.py'), 'utf8');
    const files = [
      { path: 'gate.py', text: text.slice(0, text.lastIndexOf('\nwait()\n')) },
      { path: 'asked.json', text: JSON.stringify([...goOn, ...fresh]) },
    ];
    const ask =
      'import gate, json\nprint([gate.imports_roots_first(one, {"pandas", "numpy"}) for one in json.load(open("asked.json"))])';
    const { stdout, stderr } = await cells.show(ask, 'fresh', files);
    const expected = [...goOn.map(() => 'True'), ...fresh.map(() => 'False')].join(', ');
    assert.deepEqual([stdout, stderr], [`[${expected}]\n`, '']);
  });
});

const goOn = [
  'import pandas',
  'import os, sys\nimport numpy as np, pandas as pd\nprint(1)',
  "'''doc\nmore\n'''\n# why\n\nfrom pandas import (\n  DataFrame, # this\n  Series,\n)\nx",
  'from __future__ import annotations\nfrom pandas.io import json',
];
const fresh = [
  '',
  'print(1)',
  'import numpy',
  'import foo\nimport pandas',
  'import pandas; print(1)',
  'from pandas import *',
  'from . import pandas',
  'if 1:\n  import pandas',
  ' import pandas',
  "'''a \\'''\nimport pandas\n'''",
  "'''a\nimport pandas",
  "'''a''' + b\nimport pandas",
  'from pandas import (a',
];
