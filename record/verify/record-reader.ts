import { HotcellError } from '@hotcell/contract/errors.ts';
import { formatBytes } from '@hotcell/contract/format.ts';
import type { RunId } from '@hotcell/contract/names.ts';
import type { LargeRoom } from './large-room.ts';

/** An object that stands in a record, and what its store remembers of it. */
export interface FoundKey {
  key: string;
  size: number;
  modified: Date | undefined;
  /** Versions that were put over each other; 1 where the record keeps none. */
  versions: number;
  /** A deletion hides it: readers find nothing. */
  hidden: boolean;
}

export interface Oddity {
  key: string;
  kind: string;
}

/** A record as a verifier sees it: a bucket, or a copy of one. It is only ever read. */
export interface RecordReader {
  /** For a person: which record this is. */
  readonly name: string;
  /** What stands under a prefix, in the order of keys, deletions included. */
  list(prefix: string): AsyncIterable<FoundKey>;
  /** The names directly under a prefix that have more below them, each with its prefix and a slash after it. */
  folders(prefix: string): AsyncIterable<string>;
  /** Whether the run was promised and has no result yet, where that can be asked: a copy does not say. */
  isOpen?(tenant: string, run: RunId): Promise<boolean>;
  /** The bytes of an object's versions that were put over each other or deleted, where the record keeps versions. */
  earlierVersions?(key: string): AsyncIterable<Buffer>;
  /** What stands there and can't be an object: links, pipes and the like, where the record is a folder. */
  oddities?(): AsyncIterable<Oddity>;
  /** Hands on an object's bytes as they come; false if there is no such object. */
  read(key: string, sink: (chunk: Uint8Array) => void): Promise<boolean>;
}

/** More than any object that Hotcell parses has. */
const mostWhole = 256 * 2 ** 20;
/** Nearly all of them are smaller: as many as there are lanes are in memory at a time. */
const mostSmall = 2 ** 20;

/** An object that would fill the verifier's memory. */
export class TooLarge extends HotcellError {
  constructor(key: string, most: number) {
    super('record_damaged', `${key} is larger than ${formatBytes(most)}: no object that Hotcell parses is.`);
  }
}

/** A whole object that has to be parsed. A large one waits until there is room for it, where many runs are verified. */
export async function readWhole(reader: RecordReader, key: string, room?: LargeRoom): Promise<Buffer | undefined> {
  if (room && !room.isTaken)
    try {
      return await readUpTo(reader, key, mostSmall);
    } catch (error) {
      if (!(error instanceof TooLarge)) throw error;
      await room.take();
    }
  return await readUpTo(reader, key, mostWhole);
}

async function readUpTo(reader: RecordReader, key: string, most: number): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  const found = await reader.read(key, (chunk) => {
    bytes += chunk.byteLength;
    if (bytes > most) throw new TooLarge(key, most);
    // A reader may use the same memory for its next chunk.
    chunks.push(Buffer.from(chunk));
  });
  return found ? Buffer.concat(chunks) : undefined;
}
