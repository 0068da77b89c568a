import { randomFillSync } from 'node:crypto';
import { z } from 'zod';

/** A run's id: UUIDv7, so that ids sort by time and the date folder of the record follows from the id alone. */
export const RunId = z
  .string()
  .regex(
    /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
    'must be the id of a run (a UUID of version 7)',
  );
export type RunId = z.infer<typeof RunId>;

export const TenantName = z
  .string()
  .regex(/^[a-z0-9][a-z0-9-]{0,62}$/, 'must be 1 to 63 of a-z, 0-9 and -, beginning with a letter or digit');
export type TenantName = z.infer<typeof TenantName>;

export const InputName = z
  .string()
  .max(64)
  .regex(/^[a-z0-9][a-z0-9_-]*$/, 'must be a-z, 0-9, _ and -, beginning with a letter or digit')
  // The parameters are mounted beside the inputs.
  .refine((name) => name !== 'params.json', 'params.json is reserved for the parameters');

export const SnapshotName = z
  .string()
  .regex(/^[a-z0-9][a-z0-9._-]{0,127}$/, 'must be 1 to 128 of a-z, 0-9, ., _ and -, beginning with a letter or digit');

/** A version of a name: the number that `snapshot names --history` shows, or the one that it pointed to at a time. */
const version = /^([a-z0-9][a-z0-9._-]{0,127})@(?:(\d{1,9})|\{(\d{4}-\d\d-\d\d(?:T[0-9:.]{5,16}Z)?)\})$/;

export interface NameVersion {
  name: string;
  /** Which of its moves, from 1. */
  number?: number;
  /** A day means its end, in UTC. */
  at?: string;
}

export function readNameVersion(said: string): NameVersion | undefined {
  const [, name, number, time] = version.exec(said) ?? [];
  if (name === undefined) return undefined;
  if (time === undefined) return { name, number: Number(number) };
  const at = new Date(time.includes('T') ? time : `${time}T23:59:59.999Z`);
  return Number.isNaN(at.getTime()) ? undefined : { name, at: at.toISOString() };
}

export const PolicyName = z.string().regex(/^[a-z0-9][a-z0-9-]{0,62}$/, 'must be 1 to 63 of a-z, 0-9 and -');
/** Judges what names no policy. */
export const defaultPolicy = 'sealed';
export const WorkerName = z.string().regex(/^[a-zA-Z0-9][a-zA-Z0-9._-]{0,62}$/);

let lastMs = 0;
let counter = 0;

/** Monotonic within a process: two ids of the same millisecond sort in the order in which they were made. */
export function newRunId(now: number = Date.now()): RunId {
  const bytes = randomFillSync(Buffer.alloc(16));
  if (now > lastMs) {
    lastMs = now;
    counter = bytes.readUInt16BE(6) & 0x7ff;
  } else if (++counter > 0xfff) {
    lastMs += 1;
    counter = 0;
  }
  bytes.writeUIntBE(lastMs, 0, 6);
  bytes.writeUInt16BE(0x7000 | counter, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  const hex = bytes.toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

/** What the ids of a moment begin with: it sorts before all of them, and after all earlier ones. */
export function idsFrom(ms: number): string {
  const hex = Math.max(0, Math.floor(ms)).toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}`;
}

export function timeOf(run: RunId): Date {
  return new Date(Number.parseInt(run.slice(0, 8) + run.slice(9, 13), 16));
}
