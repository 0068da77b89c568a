import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeBaseFromPackages } from '@hotcell/setup/images/base.ts';
import { Builder } from '@hotcell/setup/images/build.ts';

/** The base is made twice from Debian's packages, each time anew: both times it is the same image, to the bit. */
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
