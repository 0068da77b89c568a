import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, globSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, describe, test } from 'node:test';

const root = join(import.meta.dirname, '../../..');
const bin = join(root, 'node_modules/.bin');

const againstManifest = [
  ['outside/store/a.ts', '@hotcell/record/layout.ts'],
  ['record/a.ts', '@hotcell/producer/accept.ts'],
  ['policies/a.ts', '@hotcell/outside/store/store.ts'],
  ['setup/a.ts', '@hotcell/executor-worker/run.ts'],
  ['producer/a.ts', '@hotcell/executor-worker/run.ts'],
  ['executor-worker/a.ts', '@hotcell/producer/accept.ts'],
  ['executor-worker/b.ts', '@hotcell/setup/up.ts'],
  ['keeper/a.ts', '@hotcell/outside/keeper/keeper-door.ts'],
  ['keeper/b.ts', '@hotcell/record/objects.ts'],
  ['notary/b.ts', '@hotcell/producer/accept.ts'],
  ['contract/a.ts', '@hotcell/outside/store/store.ts'],
  ['clients/typescript/a.ts', '@hotcell/producer/accept.ts'],
  ['clients/cli/a.ts', '@hotcell/executor-worker/run.ts'],
] as const;

const againstLint = [
  ['contract/c.ts', '../outside/store/store.ts'],
  ['producer/api/d.ts', '../../executor-worker/run.ts'],
  ['executor-worker/e.ts', '../policies/load-policies.ts'],
  ['notary/c.ts', '../test/support/until.ts'],
  ['producer/b.ts', 'bullmq'],
  ['producer/c.ts', 'ioredis'],
  ['executor-worker/cell/c.ts', 'dockerode'],
  ['executor-worker/d.ts', 'undici'],
  ['notary/a.ts', '@aws-sdk/client-s3'],
  ['contract/b.ts', 'pino'],
  ['outside/queue/b.ts', '@aws-sdk/client-s3'],
  ['outside/queue/c.ts', 'undici'],
  ['outside/store/b.ts', 'bullmq'],
  ['outside/store/c.ts', 'ioredis'],
  ['outside/live/d.ts', 'dockerode'],
  ['outside/engine/e.ts', 'pino'],
  ['outside/process/f.ts', 'ioredis'],
] as const;

const allowed = [
  ['producer/accept.ts', '@hotcell/contract/digest.ts'],
  ['producer/api/policy-routes.ts', '../policies/past.ts'],
  ['outside/queue/queue.ts', 'bullmq'],
] as const;

/** A tree with this one's manifests and rules, and no files but those of the tables. */
describe('of the imports in a tree', () => {
  const tree = mkdtempSync(join(tmpdir(), 'hotcell-doors-'));
  let manifests = '';
  let lint = '';
  const run = (program: string, ...args: string[]) => {
    const env = { ...process.env, PATH: `${bin}:${process.env['PATH']}` };
    return spawnSync(join(bin, program), args, { cwd: tree, encoding: 'utf8', env }).stdout;
  };

  before(() => {
    symlinkSync(join(root, 'node_modules'), join(tree, 'node_modules'));
    const exclude = (name: string) => name === 'node_modules';
    for (const file of globSync(['**/package.json', 'tsconfig.json', 'knip.ts', 'oxlint.config.ts'], {
      cwd: root,
      exclude,
    }))
      cpSync(join(root, file), join(tree, file), { recursive: true });
    for (const [index, [file, from]] of [...againstManifest, ...againstLint, ...allowed].entries()) {
      mkdirSync(dirname(join(tree, file)), { recursive: true });
      const forms = [`export * from '${from}';`, `export type { A } from '${from}';`, `await import('${from}');`];
      writeFileSync(join(tree, file), `${forms[index % forms.length]}\n`);
    }
    manifests = run('knip', '--strict', '--no-progress', '--include', 'unlisted');
    lint = run('oxlint', '--format', 'unix');
  });
  after(() => rmSync(tree, { recursive: true }));

  for (const [file, from] of againstManifest)
    test(`${file} may not import ${from}: its room does not list it`, () =>
      assert.match(manifests, new RegExp(`^${from.split('/').slice(0, 2).join('/')} +${file}:`, 'm')));
  for (const [file, from] of againstLint)
    test(`${file} may not import ${from}`, () =>
      assert.match(lint, new RegExp(`^${file}:.*no-restricted-imports`, 'm')));
  for (const [file, from] of allowed)
    test(`${file} may import ${from}`, () => assert.doesNotMatch(`${manifests}${lint}`, new RegExp(`${file}:.*`)));
});
