import { HotcellError } from '@hotcell/contract/errors.ts';

/** An option that does nothing for a batch would be taken for one that found nothing. */
export function judgeBatchOptions(batch: string, { explain, contents }: { explain?: true; contents?: false }): void {
  const option = explain ? '--explain' : contents === false ? '--no-contents' : undefined;
  if (option !== undefined)
    throw new HotcellError('invalid', `${option} is for runs, and ${batch} is a batch. Leave ${option} out.`);
}
