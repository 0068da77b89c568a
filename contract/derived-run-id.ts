import { createHash } from 'node:crypto';
import type { RunId } from './names.ts';

/** A UUIDv7 of a moment whose random part follows from what asks for the run: it is the same however often it is made. */
export function derivedRunId(from: string, ms: number): RunId {
  const bytes = createHash('sha256').update(from).digest().subarray(0, 16);
  bytes.writeUIntBE(ms, 0, 6);
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x70, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  const hex = bytes.toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}
