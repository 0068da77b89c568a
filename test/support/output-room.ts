import { FairShare } from '@hotcell/outside/process/fair-share.ts';

/** Room for outputs on their way that no test fills by chance. */
export const openOutputRoom = (total = 2 ** 30): FairShare =>
  new FairShare({ limit: 'outputs', what: 'bytes of outputs', total });
