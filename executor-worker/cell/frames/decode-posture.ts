import { frameLimits } from '@hotcell/contract/frames.ts';
import { type PostureKind, type PostureRecord, postureFields } from '@hotcell/contract/frames-posture.ts';
import { broken, type Reader } from './reader.ts';

const byKey = new Map(
  Object.entries(postureFields).map(
    ([name, { key, fields }]): [number, { name: string; fields: Readonly<Record<string, PostureKind>> }] => [
      key,
      { name, fields },
    ],
  ),
);
const numberKind = 1;
const bytesKind = 2;

/** A record by the contract's table: any other number, kind or order of fields breaks the stream. */
export function postureRecordOf(reader: Reader): PostureRecord {
  const key = reader.u8();
  const known = byKey.get(key);
  if (!known) throw broken(`a record of the posture has the unknown key ${key}`);
  const fields: [string, PostureKind][] = Object.entries(known.fields);
  const count = reader.u8();
  if (count !== fields.length) throw broken(`the posture's ${known.name} has ${count} fields`);
  const record: Record<string, unknown> = { key: known.name };
  for (const [field, kind] of fields) record[field] = valueOf(reader, kind, `${known.name}.${field}`);
  // The table gave every field its kind.
  return record as unknown as PostureRecord;
}

function valueOf(reader: Reader, kind: PostureKind, what: string): number | string {
  const written = reader.u8();
  if (written !== (kind === 'text' || kind === 'hex' ? bytesKind : numberKind))
    throw broken(`the posture's ${what} is of another kind`);
  if (kind === 'int') return reader.u64();
  if (kind === 'size') return reader.size();
  if (kind === 'mask') return reader.mask();
  const bytes = reader.str(frameLimits.postureFieldBytes);
  return kind === 'hex' ? bytes.toString('hex') : printable(bytes);
}

/** Printable ASCII; everything else and the backslash as \xNN. */
function printable(bytes: Buffer): string {
  return bytes
    .toString('latin1')
    .replace(/[^\x20-\x5b\x5d-\x7e]/g, (char) => `\\x${char.charCodeAt(0).toString(16).padStart(2, '0')}`);
}
