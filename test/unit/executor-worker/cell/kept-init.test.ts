import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import type { Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { sha256 } from '@hotcell/contract/digest.ts';
import { InitFile } from '@hotcell/executor-worker/cell/host-files.ts';
import { KeptInit } from '@hotcell/executor-worker/cell/kept-init.ts';
import { serve } from '@hotcell/keeper/answer.ts';
import { InstalledInit } from '@hotcell/keeper/cell-folder.ts';
import { KeeperDoor } from '@hotcell/outside/keeper/keeper-door.ts';

let folder: string;
let server: Server;
const place = (name: string) => join(folder, name);
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'kept-init-'));
  mkdirSync(place('init'));
});
afterEach(() => {
  server.close();
  rmSync(folder, { recursive: true });
});

/** Replaces a file as a whole, as a build does. */
function install(path: string, text: string): void {
  writeFileSync(`${path}.new`, text);
  renameSync(`${path}.new`, path);
}

/** What a worker expects of a keeper's cells; the worker's own file is in `init/cell-init`. */
async function expectedOf(init: Pick<InstalledInit, 'digest'>): Promise<KeptInit> {
  const about = { machine: 'x86_64', runtimes: {}, cgroups: '2', userNamespaces: true, boundsDisks: true };
  server = await serve({ parts: { about, init } } as unknown as Parameters<typeof serve>[0], place('keeper.sock'));
  return new KeptInit(new KeeperDoor(place('keeper.sock')), new InitFile(folder));
}

test('a worker expects the init that the keeper has, whatever its own file is', async () => {
  install(place('kept'), 'old');
  install(place('init/cell-init'), 'old');
  const expected = await expectedOf(new InstalledInit(place('kept')));
  // An upgrade builds the new one minutes before the keeper gets it.
  install(place('init/cell-init'), 'newer');
  assert.equal(await expected.digest(), sha256('old'));
  install(place('kept'), 'newer');
  assert.equal(await expected.digest(), sha256('newer'));
});

test('with a keeper that does not say which init it has, the worker’s own file counts', async () => {
  install(place('init/cell-init'), 'mine');
  const expected = await expectedOf({ digest: undefined });
  assert.equal(await expected.digest(), sha256('mine'));
});
