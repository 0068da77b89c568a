import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { HotcellError } from '@hotcell/contract/errors.ts';
import type { PolicyContext } from '@hotcell/contract/policy-merge.ts';
import { preloadsHere, readImagesLock } from '../installation-here.ts';
import { type LoadedPolicy, loadFolder } from '../load-policies.ts';
import { type PlacedProblem, wholeFile } from '../yaml.ts';
import { countRules, unsaid } from './coverage.ts';
import { type PlacedTest, readTests } from './test-file.ts';
import { tryTest } from './try-test.ts';

interface Failure {
  file: string;
  line: number;
  test: string;
  difference: string;
}

interface Report {
  policy: string;
  tests: number;
  /** How many rules it has; `unsaid` lists those that no test covers. */
  rules: number;
  failures: Failure[];
  unsaid: string[];
}

export interface Checked {
  reports: Report[];
  problems: PlacedProblem[];
}

/** Big enough that fitMachine lowers nothing: the tests get the numbers of the file on every machine. */
const testMachine = { cpus: 256, memoryBytes: 1024 ** 5 };

/** Policies are tested before any image is built, so the tests bring their own images.lock. */
export function testInstallation(folder: string): PolicyContext {
  return {
    images: readImagesLock(join(folder, 'tests/images.lock')),
    seccomp: {},
    preloads: preloadsHere(),
    machine: testMachine,
  };
}

export function checkPolicies(folder: string, only: readonly string[] = []): Checked {
  const loaded = loadFolder(folder, testInstallation(folder));
  const { tests, problems } = readAllTests(join(folder, 'tests'));
  const wanted = (name: string) => only.length === 0 || only.includes(name);
  const known = (name: string) => loaded.policies.has(name) || loaded.problems.has(name);
  const missing = only.find((name) => !known(name));
  if (missing !== undefined) throw missingPolicy(missing, [...loaded.policies.keys(), ...loaded.problems.keys()]);
  const stray = (name: string) =>
    `This file tests the policy ${name}, which does not exist. Rename or remove the file.`;
  const strays = [...tests].flatMap(([name, [first]]) =>
    first && !known(name) ? [wholeFile(first.file, stray(name))] : [],
  );
  const reports = [...loaded.policies.values()]
    .filter(({ policy }) => wanted(policy.name))
    .map((policy) => report(policy, tests.get(policy.policy.name) ?? []));
  const broken = [...loaded.problems].filter(([name]) => wanted(name)).flatMap(([, found]) => found);
  return {
    reports,
    problems: [...broken, ...problems, ...strays],
  };
}

function missingPolicy(name: string, known: readonly string[]): HotcellError {
  const message = `Policy not found: ${name}. Policies here: ${known.toSorted().join(', ') || 'none'}.`;
  return new HotcellError('not_found', message);
}

function readAllTests(folder: string): { tests: Map<string, PlacedTest[]>; problems: PlacedProblem[] } {
  const tests = new Map<string, PlacedTest[]>();
  const problems: PlacedProblem[] = [];
  for (const name of filesIn(folder).filter((file) => /\.ya?ml$/.test(file))) {
    const file = join(folder, name);
    const read = readTests(readFileSync(file, 'utf8'), file);
    if ('problems' in read) problems.push(...read.problems);
    else tests.set(read.policy, [...(tests.get(read.policy) ?? []), ...read.tests]);
  }
  return { tests, problems };
}

/** Without the folder, every policy is reported as untested. */
const filesIn = (folder: string) => (existsSync(folder) ? readdirSync(folder).toSorted() : []);

function report({ policy }: LoadedPolicy, tests: readonly PlacedTest[]): Report {
  const tried = tests.map((test) => ({ test, result: tryTest(test, policy) }));
  const failures = tried.flatMap(({ test, result }) =>
    result.differences.map((difference) => ({ file: test.file, line: test.line, test: test.name, difference })),
  );
  const results = tried.map(({ result }) => result);
  return {
    policy: policy.name,
    tests: tests.length,
    rules: countRules(policy),
    failures,
    unsaid: tests.length > 0 ? unsaid(policy, results) : [`No tests yet. Create tests/${policy.name}.yaml.`],
  };
}
