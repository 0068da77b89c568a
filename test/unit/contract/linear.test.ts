import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { judgeAddress, judgeWebhookUrl, readNetworks } from '@hotcell/contract/address-guard.ts';
import { admit } from '@hotcell/contract/admission.ts';
import { judgeItemRequest } from '@hotcell/contract/batch-items.ts';
import { filenameIn } from '@hotcell/contract/blocks.ts';
import { languages } from '@hotcell/contract/languages.ts';
import { chunkOf, cutTail } from '@hotcell/contract/log-rows.ts';
import { fileNamedIn, readLastWords } from '@hotcell/contract/lacking.ts';
import { missingIn, packageNamedIn } from '@hotcell/contract/missing-package.ts';
import { nearest } from '@hotcell/contract/nearest.ts';
import { matches } from '@hotcell/contract/policy.ts';
import { parsePolicyFile } from '@hotcell/contract/policy-file.ts';
import { readRunRequest } from '@hotcell/contract/read-request.ts';
import { changesBetween } from '@hotcell/contract/schedule-change.ts';
import { cronTicksAfter, parseCron } from '@hotcell/contract/schedule-cron.ts';
import { judgeTickRequest } from '@hotcell/contract/schedule-request.ts';
import { tickOfName } from '@hotcell/contract/schedule-ticks.ts';
import { screen } from '@hotcell/contract/screening.ts';
import { parseBytes } from '@hotcell/contract/sizes.ts';
import type { RunRequest } from '@hotcell/contract/spec.ts';
import { readYaml } from '@hotcell/policies/yaml.ts';
import { growsNoFaster, type Hostile } from '../../support/growth.ts';
import { policyOf, submitter } from '../../support/policies.ts';

const screened = (code: string) => screen([{ language: 'python', code }], languages);
const policy = policyOf({ images: ['python'], languages: ['python'], env: { job: ['A*'] }, argv: true }, 'any');
const admits = (request: RunRequest) => admit(request, policy, submitter, []);
const of = (size: number) => Array.from({ length: size }, (_, i) => i);

/** What strangers send and write, to each function of the contract and the policies that reads it. */
const hostile: Readonly<Record<string, Hostile>> = {
  'a first line with three runs of spaces': {
    size: 400,
    make: (size) => `# filename: a${' '.repeat(size)}x`,
    read: filenameIn,
  },
  'a first line that begins with spaces': { size: 4_000, make: (size) => `${' '.repeat(size)}x`, read: filenameIn },
  'a request of unknown fields': {
    size: 2_000,
    make: (size) => Object.fromEntries(Array.from({ length: size }, (_, i) => [`unknown-field-${i}`, 1])),
    read: readRunRequest,
  },
  'blocks of unknown fields': {
    size: 2_000,
    make: (size) => ({ blocks: [Object.fromEntries(Array.from({ length: size }, (_, i) => [`langage${i}`, 1]))] }),
    read: readRunRequest,
  },
  'code of one long line': { size: 30_000, make: (size) => 'pip '.repeat(size), read: screened },
  'code of many short lines': { size: 30_000, make: (size) => 'a=1\n'.repeat(size), read: screened },
  'code of opening quotes': { size: 100_000, make: (size) => '"\''.repeat(size), read: screened },
  'blocks and files for the same paths': {
    size: 12,
    make: (size) => ({
      blocks: of(size).map((i) => ({ language: 'python', code: '', file: `f${i % 7}` })),
      files: of(size * 4).map((i) => ({ path: `f${i % 5}`, text: '' })),
    }),
    read: admits,
  },
  'blocks in folders of folders': {
    size: 12,
    make: (size) => ({ blocks: of(size).map((i) => ({ language: 'p', code: '', file: `${'a/'.repeat(15)}${i}` })) }),
    read: admits,
  },
  'variables that no policy allows': {
    size: 5_000,
    make: (size) => ({
      blocks: [{ argv: ['a'] }],
      env: Object.fromEntries(of(size).map((i) => [`V${i}`, 'x\0'])),
    }),
    read: admits,
  },
  'arguments of NULs': {
    size: 2_000,
    make: (size) => ({ blocks: of(size).map(() => ({ argv: ['\0'.repeat(50)] })) }),
    read: admits,
  },
  'deeply nested JSON': {
    size: 500,
    make: (size) => ({ blocks: [], params: JSON.parse(`${'['.repeat(size)}${']'.repeat(size)}`) as unknown }),
    read: readRunRequest,
  },
  'params of many values': {
    size: 20_000,
    make: (size) => ({ blocks: [{ argv: ['a'] }], params: Object.fromEntries(of(size).map((i) => [`p${i}`, [i]])) }),
    read: readRunRequest,
  },
  'a size of digits': { size: 100_000, make: (size) => `${'9'.repeat(size)} x`, read: parseBytes },
  'a size of spaces': { size: 100_000, make: (size) => `1${' '.repeat(size)}x`, read: parseBytes },
  'a name that is nearly known': {
    size: 100_000,
    make: (size) => 'limit'.repeat(size),
    read: (name: string) => nearest(name, ['limits', 'blocks']),
  },
  'last words without end': {
    size: 5_000,
    make: (size) => `${'x'.repeat(100)}\n`.repeat(size),
    read: (stderr: string) => missingIn(stderr, 1),
  },
  'one last word without end': {
    size: 100_000,
    make: (size) => `ModuleNotFoundError: No module named '${' '.repeat(size)}`,
    read: (stderr: string) => missingIn(stderr, 1),
  },
  'last words of names and colons': {
    size: 5_000,
    make: (size) => `${'a: '.repeat(160)}No such\n`.repeat(size),
    read: (stderr: string) => readLastWords(stderr, 1),
  },
  'a reason like ours of a file': {
    size: 20_000,
    make: (size) => 'By its last words it did not find the file x'.repeat(size),
    read: fileNamedIn,
  },
  'a reason like ours': {
    size: 20_000,
    make: (size) => 'By its last words it lacks the program x'.repeat(size),
    read: packageNamedIn,
  },
  'bytes that are no text': { size: 200_000, make: (size) => Buffer.alloc(size, 0xf0), read: chunkOf },
  'a tail that is cut': { size: 500_000, make: (size) => Buffer.alloc(size, 0x80), read: cutTail },
  'a policy of unknown fields': {
    size: 2_000,
    make: (size) => Object.fromEntries(of(size).map((i) => [`nework${i}`, 'none'])),
    read: (value: unknown) => parsePolicyFile('any', value),
  },
  'a pattern of stars': {
    size: 50_000,
    make: (size) => ['*'.repeat(size), 'a'.repeat(size)],
    read: ([pattern, name]: [string, string]) => matches(pattern, name),
  },
  'YAML of many keys': {
    size: 800,
    make: (size) =>
      of(size)
        .map((i) => `k${i}: 1\n`)
        .join(''),
    read: (text: string) => readYaml(text, 'any.yaml'),
  },
  'YAML of nested lists': {
    size: 200,
    make: (size) => `${'['.repeat(size)}${']'.repeat(size)}`,
    read: (text: string) => readYaml(text, 'any.yaml'),
  },
  'an expression of cron of many fields': {
    size: 100_000,
    make: (size) => '* '.repeat(size),
    read: (text: string) => parseCron(text, 'UTC'),
  },
  'an expression of cron of many times': {
    size: 12,
    make: (size) => `${of(size).join(',')} ${of(Math.min(size, 24)).join(',')} * * *`,
    read: (text: string) => cronTicksAfter(parseCron(text, 'Europe/Berlin'), 0).next(),
  },
  'a time zone of many letters': {
    size: 50_000,
    make: (size) => 'A/'.repeat(size),
    read: (zone: string) => parseCron('@daily', zone),
  },
  'the request of a tick with many params': {
    size: 20_000,
    make: (size) => ({ blocks: [], params: Object.fromEntries(of(size).map((i) => [`p${i}`, i])) }),
    read: judgeTickRequest,
  },
  'the request of an item with many params': {
    size: 20_000,
    make: (size) => ({ blocks: [], params: Object.fromEntries(of(size).map((i) => [`p${i}`, i])) }),
    read: (request: RunRequest) => judgeItemRequest(request, { items: [{}] }),
  },
  'many networks': { size: 5_000, make: (size) => '10.0.0.0/8,'.repeat(size), read: readNetworks },
  'an address of colons': {
    size: 200_000,
    make: (size) => ':1'.repeat(size),
    read: (text: string) => judgeAddress(text, []),
  },
  'an address of a webhook of dots': {
    size: 200_000,
    make: (size) => `https://a${'.1'.repeat(size)}/`,
    read: (text: string) => judgeWebhookUrl(text, []),
  },
  'versions of a schedule that share nothing': {
    size: 5_000,
    make: (size) =>
      ['a', 'b'].map((letter) => ({ run: Object.fromEntries(of(size).map((i) => [`${letter}${i}`, i])) })),
    read: ([before, after]: object[]) => changesBetween(before ?? {}, after ?? {}),
  },
  'a tick’s name of digits': { size: 200_000, make: (size) => '1'.repeat(size), read: tickOfName },
  'YAML of spaces and tabs': {
    size: 10_000,
    make: (size) => `a:${' \t'.repeat(size)}b`,
    read: (text: string) => readYaml(text, 'any.yaml'),
  },
};

describe('the time that a stranger’s input takes grows with its size and no faster', () => {
  for (const [name, input] of Object.entries(hostile)) test(name, () => growsNoFaster(input));
});

test('a request with many unknown fields is told of the first with hints, and of the number of the others', () => {
  const body = Object.fromEntries(Array.from({ length: 1_000 }, (_, i) => [`unknown-field-${i}`, 1]));
  const read = readRunRequest(body);
  assert.ok('issues' in read);
  assert.ok(read.issues.length < 60, `${read.issues.length} issues`);
  assert.ok(read.issues.some(({ message }) => message === '950 more unknown fields'));
});
