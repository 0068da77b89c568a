import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { rmSync, utimesSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { isAlive, sayAlive } from '@hotcell/outside/process/alive.ts';

test('a service is alive while it says so, and no longer once it has been quiet for long', () => {
  const service = randomUUID();
  const file = join(tmpdir(), `.hotcell-${service}-alive`);
  try {
    assert.equal(isAlive(service), false);
    sayAlive(service);
    assert.equal(isAlive(service), true);
    const quietFor = (seconds: number) => utimesSync(file, 0, Date.now() / 1000 - seconds);
    quietFor(20);
    assert.equal(isAlive(service), true);
    quietFor(31);
    assert.equal(isAlive(service), false);
    sayAlive(service);
    assert.equal(isAlive(service), true);
  } finally {
    rmSync(file, { force: true });
  }
});
