/** Why a cell was made for its run alone, although the worker may keep waiting cells. */
export const whyCold = {
  off: 'its worker keeps no waiting cells',
  new: 'no run had asked for such a cell before',
  limits: 'its limits differ from those of the cells that wait',
  times: 'its time limits are longer than those of the cells that wait',
  inputs: 'its inputs have too many files to be laid out late',
  none: 'no cell of its class was waiting',
  failed: 'the waiting cell was no longer what it had been',
} as const;
export type WhyCold = keyof typeof whyCold;
