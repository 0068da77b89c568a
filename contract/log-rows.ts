import { z } from 'zod';

/**
 * One chunk of a job's log, exactly as written; bytes that are not UTF-8 are in base64. `dropped` counts the bytes past
 * the log limit that were not kept at this place. The rows in the order of `seq` are the stream.
 */
export const LogRow = z.strictObject({
  seq: z.number().int().min(0),
  at: z.iso.datetime(),
  block: z.number().int().min(0),
  stream: z.enum(['stdout', 'stderr']),
  text: z.string().optional(),
  base64: z.base64().optional(),
  dropped: z.number().int().positive().optional(),
});
export type LogRow = z.infer<typeof LogRow>;

/** A row as a line of NDJSON. A reader who finds its members in another order writes the same bytes again. */
export function lineOf({ seq, at, block, stream, text, base64, dropped }: LogRow): string {
  return `${JSON.stringify({ seq, at, block, stream, text, base64, dropped })}\n`;
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** A row's bytes: as text where they are UTF-8, so that people can read a stored log without tools. */
export function chunkOf(bytes: Uint8Array): { text: string } | { base64: string } {
  try {
    return { text: utf8.decode(bytes) };
  } catch {
    // Not UTF-8: base64 loses nothing.
    return { base64: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64') };
  }
}

export function bytesOf(row: LogRow): Buffer {
  return row.text === undefined ? Buffer.from(row.base64 ?? '', 'base64') : Buffer.from(row.text);
}

/**
 * How many bytes at the end of a chunk begin an incomplete UTF-8 character (0 to 3). They are kept for the next chunk,
 * because a pipe cuts anywhere.
 */
export function cutTail(bytes: Uint8Array): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back] ?? 0;
    if ((byte & 0xc0) === 0x80) continue;
    const need = byte >= 0xf0 && byte < 0xf8 ? 4 : byte >= 0xe0 ? (byte < 0xf0 ? 3 : 0) : byte >= 0xc2 ? 2 : 0;
    return need > back ? back : 0;
  }
  return 0;
}
