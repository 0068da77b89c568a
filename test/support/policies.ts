import assert from 'node:assert/strict';
import { type Admission, admit } from '@hotcell/contract/admission.ts';
import type { Policy } from '@hotcell/contract/policy.ts';
import { parsePolicyFile } from '@hotcell/contract/policy-file.ts';
import { type PolicyContext, resolvePolicy } from '@hotcell/contract/policy-merge.ts';
import type { RunRequest } from '@hotcell/contract/spec.ts';

const digest = (digit: string) => `sha256:${digit.repeat(64)}`;

/** An installation on a big machine, with the images python and node. */
export const builtHere: PolicyContext = {
  images: {
    python: { ref: 'hotcell/python:test', digest: digest('a'), kind: 'cell' },
    node: { ref: 'hotcell/node:test', digest: digest('b'), kind: 'cell' },
    store: { ref: 'hotcell/store:test', digest: digest('c'), kind: 'service' },
  },
  seccomp: { 'runc-x86_64': digest('d'), 'gvisor-x86_64': digest('e') },
  preloads: { pandas: digest('f') },
  machine: { cpus: 64, memoryBytes: 1024 ** 4 },
};

/** A policy from its file's contents. */
export function policyOf(said: unknown, name = 'tried'): Policy {
  const parsed = parsePolicyFile(name, said);
  assert.ok('policyFile' in parsed, JSON.stringify(parsed));
  const resolved = resolvePolicy(name, parsed.policyFile, builtHere);
  assert.ok('policy' in resolved, JSON.stringify(resolved));
  return resolved.policy;
}

export const submitter = { tenant: 'tests', role: 'submitter', key: 'tests' } as const;
export const prints: RunRequest = { blocks: [{ language: 'python', code: 'print(1)' }] };

export function admitted(policy: Policy, more: Partial<RunRequest> = {}): Admission & { admitted: true } {
  const verdict = admit({ ...prints, ...more }, policy, submitter, []);
  assert.ok(verdict.admitted, JSON.stringify(verdict));
  return verdict;
}

export function refused(policy: Policy, more: Partial<RunRequest> = {}): string[] {
  const verdict = admit({ ...prints, ...more }, policy, submitter, []);
  assert.ok(!verdict.admitted, 'it was admitted');
  return verdict.reasons.map(({ path, message }) => `${path}: ${message}`);
}
