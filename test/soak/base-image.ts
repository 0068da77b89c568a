import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeBaseFromPackages } from '@hotcell/setup/images/base.ts';
import { Builder } from '@hotcell/setup/images/build.ts';

/** Builds the base image twice from Debian's packages: both must be identical to the bit. */
export async function baseImageIsReproducible(say: (line: string) => void): Promise<void> {
  const scratch = await mkdtemp(join(tmpdir(), 'hotcell-base-'));
  try {
    const builder = new Builder(scratch);
    const first = await makeBaseFromPackages(builder, say);
    assert.equal(await makeBaseFromPackages(builder, say), first);
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}
