import { inResults, signatures } from './forged-signatures.ts';
import { byInsider, contradictions } from './insider-lies.ts';
import { later, onObjects, replayed, type Row } from './object-edits.ts';

/** Everything that is done to a record behind the back of those who verify it, and the verdict on it. */
export const rows: readonly Row[] = [
  ...onObjects,
  ...replayed,
  ...later,
  ...inResults,
  ...signatures,
  ...byInsider,
  ...contradictions,
];
