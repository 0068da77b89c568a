import { counted } from '@hotcell/contract/format.ts';

/** What a person is told of it. */
export function savedIn(folder: string, files: number): string {
  if (files === 0) return `${folder} stays as it is: the run has 0 output files.`;
  return `Saved ${counted(files, 'file')} in ${folder}. Every byte matches the result.`;
}
