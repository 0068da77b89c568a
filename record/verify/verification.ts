import { createHash } from 'node:crypto';
import type { Digest } from '@hotcell/contract/digest.ts';
import type { KnownKey } from '@hotcell/contract/evidence/key-list.ts';
import type { Erasure } from '@hotcell/contract/evidence/erasure.ts';
import type { Eraser } from '@hotcell/contract/evidence/root-succession.ts';
import { Findings, type IgnoredObject } from '@hotcell/contract/evidence/verdict.ts';
import type { LargeRoom } from './large-room.ts';
import { type RecordReader, readWhole, TooLarge } from './record-reader.ts';
import type { TrustedKeys } from './trusted-keys.ts';

/** What is verified, and against what. */
export interface Verification {
  reader: RecordReader;
  /** The keys that a trusted root listed, and no other. */
  keys: ReadonlyMap<Digest, KnownKey>;
  /** Whether the bytes of inputs and outputs are read too, and not only their lists; or those of outputs alone. */
  contents: boolean | 'outputs';
  now: Date;
  /** They alone may excuse what is not there: without them, nothing was erased. */
  erasers: readonly Eraser[];
  /** Whose record it is, as the list of keys says: a promise of another installation is none of this one. */
  installation: string;
  /** What many runs name, and was found to be right. */
  seen: SeenObjects;
  /** Where many runs are verified at a time: for the large objects of one of them. */
  room?: LargeRoom;
}

export function verificationBy(
  reader: RecordReader,
  { keys, erasers, list: { installation } }: TrustedKeys,
  contents: Verification['contents'] = true,
): Verification {
  return { reader, keys, erasers, installation, contents, now: new Date(), seen: new SeenObjects() };
}

const mostSeen = 10_000;

/** Objects that have the digest in their name: once right, always right, as far as this verification goes. */
export class SeenObjects {
  readonly #right = new Set<string>();

  has(key: string, digest: Digest): boolean {
    return this.#right.has(`${key} ${digest}`);
  }

  add(key: string, digest: Digest): void {
    if (this.#right.size >= mostSeen) this.#right.clear();
    this.#right.add(`${key} ${digest}`);
  }
}

/** One look at one run: what was found, and how much was read. */
export class Look {
  readonly findings = new Findings();
  readonly read = { objects: 0, bytes: 0 };
  readonly ignored: IgnoredObject[] = [];
  readonly of: Verification;
  /** Of all that stands there of the run, as it was listed. */
  keys: readonly string[] = [];
  /** That its code, log and outputs were removed, if a trusted root says so. */
  erasure: Erasure | undefined;

  constructor(of: Verification) {
    this.of = of;
  }

  /** A whole object, for one that is parsed. Finds it missing (unless it was erased), or too large to be one of Hotcell's. */
  async whole(key: string, mayBeErased = false): Promise<Buffer | undefined> {
    let bytes: Buffer | undefined;
    try {
      bytes = await readWhole(this.of.reader, key, this.of.room);
    } catch (error) {
      if (!(error instanceof TooLarge)) throw error;
      this.findings.add('MODIFIED', key, 'an object of a size that Hotcell writes', error.message);
      return undefined;
    }
    if (!bytes && mayBeErased && this.erasure) return undefined;
    if (!bytes) {
      this.findings.add('MISSING', key, 'an object', 'nothing');
      return undefined;
    }
    this.read.objects += 1;
    this.read.bytes += bytes.length;
    return bytes;
  }

  /** Reads an object through and compares its digest. One that an erasure removes may be gone, if a trusted root signed it. */
  async matches(key: string, expected: Digest, mayBeErased = false): Promise<boolean> {
    const { reader, seen } = this.of;
    if (seen.has(key, expected)) return true;
    const hash = createHash('sha256');
    let bytes = 0;
    const found = await reader.read(key, (chunk) => {
      hash.update(chunk);
      bytes += chunk.byteLength;
    });
    if (!found && mayBeErased && this.erasure) return true;
    if (!found) {
      this.findings.add('MISSING', key, expected, 'nothing');
      return false;
    }
    this.read.objects += 1;
    this.read.bytes += bytes;
    const digest: Digest = `sha256:${hash.digest('hex')}`;
    if (digest !== expected) {
      this.findings.add('MODIFIED', key, expected, digest);
      return false;
    }
    seen.add(key, expected);
    return true;
  }
}
