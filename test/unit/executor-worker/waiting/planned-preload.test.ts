import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sha256 } from '@hotcell/contract/digest.ts';
import { languages } from '@hotcell/contract/languages.ts';
import { plannedPreload } from '@hotcell/executor-worker/waiting/planned-preload.ts';

const preload = { name: 'pandas', digest: sha256('pandas') };
const code = 'import pandas';
type Asked = Partial<Parameters<typeof plannedPreload>[0]>;
const plan = (asked: Asked, env: Record<string, string> = {}, runtime: 'runc' | 'gvisor' = 'runc') =>
  plannedPreload({ blocks: [{ language: 'python', code }], files: [], ...asked }, { preload, languages, env, runtime });

test('a preload is planned for an unnamed block of python, with its command', () => {
  const planned = { ...preload, argv: ['python3', 'block_0.py'] };
  assert.deepEqual(plan({}), planned);
  assert.deepEqual(
    plan({
      blocks: [
        { language: 'py', code },
        { language: 'bash', code: 'ls' },
      ],
    }),
    planned,
  );
  // No job sets a variable of Hotcell's own.
  assert.deepEqual(plan({}, { PATH: '/x' }), planned);
});

test('without one in the policy there is nothing to say', () => {
  const asked = { blocks: [{ language: 'python', code }], files: [] };
  assert.equal(plannedPreload(asked, { languages, env: {}, runtime: 'runc' }), undefined);
});

test('a session, another first block, variables and a workspace have a fresh interpreter', () => {
  assert.equal(plan({ mode: 'session', blocks: [] }), 'session');
  assert.equal(plan({ blocks: [{ language: 'bash', code: 'ls' }] }), 'program');
  assert.equal(plan({ blocks: [{ language: 'python', code, file: 'report.py' }] }), 'program');
  assert.equal(plan({ blocks: [{ argv: ['python3', 'block_0.py'] }] }), 'program');
  assert.equal(plan({ files: [{ path: '.local/lib/x.py', text: '' }] }), 'program');
  assert.equal(plan({}, { TZ: 'UTC' }), 'variables');
  const digest = `sha256:${'1'.repeat(64)}` as const;
  const workspace = { snapshot: digest, locations: digest, source: '@empty' };
  assert.equal(plan({ workspace }), 'workspace');
  assert.equal(plan({}, {}, 'gvisor'), 'runtime');
});
