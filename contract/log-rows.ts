import { z } from 'zod';

/**
 * One chunk of what a job wrote, exactly as written. Bytes that are no UTF-8 come as base64; `dropped` says that at this
 * place so many bytes past the log limit were not kept. Rows by `seq` are the stream.
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

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** The bytes as a row says them: as text where they are UTF-8, so that people can read the stored log as it lies. */
export function chunkOf(bytes: Uint8Array): { text: string } | { base64: string } {
  try {
    return { text: utf8.decode(bytes) };
  } catch {
    // Not UTF-8: lossless all the same.
    return { base64: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64') };
  }
}

export function bytesOf(row: LogRow): Buffer {
  return row.text === undefined ? Buffer.from(row.base64 ?? '', 'base64') : Buffer.from(row.text);
}

/**
 * How many bytes at the end of a chunk begin a UTF-8 character that the chunk does not hold whole (0 to 3). They are
 * kept for the next chunk, since a pipe cuts anywhere and an é that was cut is still an é.
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
