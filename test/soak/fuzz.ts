import { join } from 'node:path';
import { command } from '@hotcell/setup/command.ts';

const folder = join(import.meta.dirname, '../../images/cell-init');

/** Fuzzes init's frame reader with sanitizers and coverage. Needs clang, unlike the tests. */
export async function fuzzInit(seconds: number): Promise<string> {
  const { code, stdout, stderr } = await command(['make', '-C', folder, 'fuzz', `FUZZ_SECONDS=${seconds}`]);
  if (code !== 0)
    throw new Error(`fuzzing init failed (install clang and make if that is what is missing):\n${stdout}${stderr}`);
  const executed = /number_of_executed_units:\s*(\d+)/.exec(stderr)?.[1];
  return `${executed ?? 'no'} inputs in ${seconds} s`;
}
