import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type LoadedPolicy, loadTexts } from '@hotcell/policies/load-policies.ts';
import { problemLine } from '@hotcell/policies/yaml.ts';
import { builtHere } from '../../support/policies.ts';

function load(files: Record<string, string>) {
  return loadTexts(
    new Map(Object.entries(files).map(([name, text]) => [name, { file: `${name}.yaml`, text }])),
    builtHere,
  );
}

function problemsOf(text: string, others: Record<string, string> = {}): string[] {
  const { problems } = load({ ...others, bad: text });
  return (problems.get('bad') ?? []).map(problemLine);
}

function loaded(files: Record<string, string>, name: string): LoadedPolicy {
  const { policies, problems } = load(files);
  return policies.get(name) ?? assert.fail([...problems.values()].flat().map(problemLine).join('\n'));
}

const nested = (open: string, times: number) => open.repeat(times);

describe('a bad file', () => {
  const bad: [what: string, text: string, says: RegExp][] = [
    ['with a key twice', 'argv: true\nargv: false\n', /^bad\.yaml:2:1: The key appears twice\. Keep one of the two\.$/],
    [
      'with an alias',
      'images: [python]\nlanguages: *a\n',
      /^bad\.yaml:2:12: Aliases \(\*a\) are not allowed\. Write it out/,
    ],
    ['with a tag', 'argv: !!js/function x\n', /^bad\.yaml:1:7: /],
    ['with two documents', 'argv: true\n---\nargv: false\n', /^bad\.yaml:2:1: The file has several documents/],
    ['indented by tabs', 'limits:\n\tpids: 3\n', /^bad\.yaml:2:1: Tabs can’t indent\. Use spaces\.$/],
    ['that is not closed', 'images: [python\n', /^bad\.yaml:\d+:\d+: This is not valid YAML: /],
    ['with a list as a key', '? [a]\n: b\n', /^bad\.yaml:1:3: A key must be a word, not a list or a map\.$/],
    ['that is a list', '- a\n', /^bad\.yaml:1:1: must be an object, not a list$/],
    ['that is a word', 'sealed\n', /^bad\.yaml:1:1: must be an object, not a string$/],
    ['nested by the thousand', nested('[', 60_000), /^bad\.yaml:1:\d+: Lists and maps are nested too deeply/],
    ['longer than any policy', `# ${'x'.repeat(70_000)}`, /^bad\.yaml:1:1: The file is longer than 64 KiB/],
    [
      'with an unknown key',
      'limits:\n  pidz: 3\n',
      /^bad\.yaml:2:3: limits\.pidz: Unknown field "pidz"\. Did you mean "pids"\?$/,
    ],
    [
      'with a number as text',
      'limits:\n  pids: many\n',
      /^bad\.yaml:2:3: limits\.pids: must be a number, not a string$/,
    ],
    ['with text as a number', 'argv: 1\n', /^bad\.yaml:1:1: argv: must be a boolean, not a number$/],
    [
      'with a size that is none',
      'limits: { memoryBytes: 1 lot }\n',
      /^bad\.yaml:1:11: limits\.memoryBytes: "1 lot" is not a size\. Write it like 512MiB/,
    ],
    ['with a number that is none', 'limits: { cpus: .inf, pids: .nan }\n', /^bad\.yaml:1:11: limits\.cpus: .*number/],
    [
      'with another network',
      '# fine\nnetwork: host\n',
      /^bad\.yaml:2:1: network: must be none: a cell has no network$/,
    ],
    [
      'with an image that is not built',
      'images:\n  - python\n  - nod\n',
      /^bad\.yaml:3:5: images\[1\]: This installation has no image "nod"\. Did you mean "node"\?/,
    ],
    [
      'with an unknown language',
      'languages: [python, basic]\n',
      /^bad\.yaml:1:21: languages\[1\]: Unknown language "basic"/,
    ],
    ['with something that nothing enforces', 'gpus: 1\n', /^bad\.yaml:1:1: gpus: Not supported yet/],
    [
      'with approvals, and not called reviewed',
      'approval: { count: 1, by: [admin] }\n',
      /^bad\.yaml:1:1: approval: Not supported yet/,
    ],
    [
      'with a range upside down',
      'limits:\n  pids: { default: 9, max: 8 }\n',
      /^bad\.yaml:2:3: limits\.pids: the default must be between/,
    ],
    [
      'beyond the ceiling',
      'limits:\n  openFiles: 99999\n',
      /^bad\.yaml:2:3: limits\.openFiles\.\w+: must be at most 16384/,
    ],
    ['that extends an unknown policy', 'extends: seald\n', /^bad\.yaml:1:1: extends: Policy not found: seald/],
    ['that extends a path', 'extends: ../secret\n', /^bad\.yaml:1:1: extends: must be 1 to 63/],
    [
      'that extends itself',
      'extends: bad\n',
      /^bad\.yaml:1:1: extends: bad → bad is a circle\. Remove one of these lines\.$/,
    ],
    ['with __proto__', '__proto__: { argv: true }\n', /^bad\.yaml:1:1: __proto__: Unknown field/],
  ];
  for (const [what, text, says] of bad)
    test(`${what} is told where, why and what to do`, () => {
      const [first = 'nothing is wrong with it'] = problemsOf(text);
      assert.match(first, says);
    });

  test('of YAML with a slip is told the first slip only', () => {
    assert.equal(problemsOf('images: [python\nargv: }\n:: x').length, 1);
  });

  test('with several mistakes is told all of them, each with its line', () => {
    const problems = problemsOf('argv: 1\nuser: root\nlimits:\n  pids: x\n');
    assert.deepEqual(problems.map((line) => String(line.split(' ')[0])).toSorted(), [
      'bad.yaml:1:1:',
      'bad.yaml:2:1:',
      'bad.yaml:4:3:',
    ]);
  });

  test('does not take the others with it, but those that stand on it', () => {
    const { policies, problems } = load({ good: '', bad: 'argv: 1', child: 'extends: bad' });
    assert.deepEqual([...policies.keys()], ['good']);
    assert.match(
      problemLine(problems.get('child')?.[0] ?? assert.fail()),
      /^child\.yaml:1:1: extends: policy bad has a problem/,
    );
  });
});

describe('extends', () => {
  test('in a circle of several is refused in each of them, with the way around', () => {
    const { problems } = load({ a: 'extends: b', b: 'extends: c', c: 'extends: a' });
    assert.deepEqual(
      [...problems.values()].flat().map(problemLine).toSorted(),
      [
        'a.yaml:1:1: extends: b → c → a → b is a circle. Remove one of these lines.',
        'b.yaml:1:1: extends: c → a → b → c is a circle. Remove one of these lines.',
        'c.yaml:1:1: extends: a → b → c → a is a circle. Remove one of these lines.',
      ].toSorted(),
    );
  });

  test('is bounded', () => {
    const files = Object.fromEntries(
      Array.from({ length: 10 }, (_, i) => [`p${i}`, i === 0 ? '' : `extends: p${i - 1}`]),
    );
    const { policies, problems } = load(files);
    assert.equal(policies.size, 8);
    assert.match(problemLine(problems.get('p9')?.[0] ?? assert.fail()), /more than 8 policies deep/);
  });

  test('inherits what is not said, whatever order the files come in', () => {
    const files = {
      child: 'extends: base\nlimits: { pids: { max: 99 } }',
      base: 'argv: true\nlimits: { pids: { default: 40, max: 50 } }',
    };
    const { policy } = loaded(files, 'child');
    assert.equal(policy.argv, true);
    assert.deepEqual(policy.limits.pids, { min: 8, default: 40, max: 99 });
    assert.equal(loaded(files, 'base').policy.limits.pids.max, 50);
  });

  test('blames the file that says it', () => {
    const { problems } = load({ base: 'images: [gone]', child: 'extends: base\nargv: true' });
    assert.match(problemLine(problems.get('child')?.[0] ?? assert.fail()), /^base\.yaml:1:10: images\[0\]/);
  });
});

test('an empty file, and one with nothing but comments, is a policy', () => {
  for (const text of ['', '# nothing\n', '---\n', '{}'])
    assert.equal(loaded({ none: text }, 'none').policy.argv, false);
});

test('the digest is the same for the same file, and another one for another name or image', () => {
  const one = loaded({ a: 'argv: true' }, 'a').digest;
  assert.equal(loaded({ a: 'argv: true # the same' }, 'a').digest, one);
  assert.notEqual(loaded({ b: 'argv: true' }, 'b').digest, one);
});
