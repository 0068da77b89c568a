import { routes } from '@hotcell/contract/api/routes.ts';
import { HotcellError, messageOf } from '@hotcell/contract/errors.ts';
import { cutTail } from '@hotcell/contract/log-rows.ts';
import type { Api } from './api.ts';
import { pictureType } from './picture-kind.ts';

/** A larger picture helps no model, and its base64 would fill a client's window. */
export const mostPictureBytes = 3 * 1024 * 1024;
/** More than what tells a picture's kind. */
const firstBytes = 16;

export type ReadOutput = { bytes: number } & (
  | { kind: 'picture'; mimeType: string; base64: string }
  | { kind: 'text'; text: string; isWhole: boolean }
  | { kind: 'binary'; why: string }
);

/** Reads an output as what it is: of a text its beginning, of a picture all. No more than that is ever held. */
export async function readOutput(
  api: Api,
  { run, path, maxBytes, signal }: { run: string; path: string; maxBytes: number; signal: AbortSignal },
): Promise<ReadOutput> {
  const answer = await api.open(routes.getOutput, { params: { run, path }, signal });
  const size = Number(answer.headers.get('content-length') ?? 0);
  const head = await beginningOf(answer, (first) =>
    pictureType(first) && size <= mostPictureBytes ? mostPictureBytes : maxBytes,
  );
  const mimeType = pictureType(head);
  if (mimeType && size <= mostPictureBytes) {
    // The API breaks off a file whose bytes are not those of the result.
    if (head.length !== size) throw new HotcellError('record_damaged', `${path} ended early.`);
    return { kind: 'picture', bytes: size, mimeType, base64: head.toString('base64') };
  }
  if (mimeType) return { kind: 'binary', bytes: size, why: `a picture (${mimeType}) too large to be shown` };
  const isWhole = head.length === size;
  const text = textIn(isWhole ? head : head.subarray(0, head.length - cutTail(head)));
  return text === undefined
    ? { kind: 'binary', bytes: size, why: 'neither a text nor a picture' }
    : { kind: 'text', bytes: size, text, isWhole };
}

async function beginningOf(answer: Response, mostOf: (first: Buffer) => number): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let held = 0;
  let most: number | undefined;
  try {
    for await (const chunk of answer.body ?? []) {
      chunks.push(chunk);
      held += chunk.length;
      if (held >= firstBytes) most ??= mostOf(Buffer.concat(chunks));
      if (most !== undefined && held >= most) break;
    }
  } catch (cause) {
    if (cause instanceof Error && cause.name === 'AbortError') throw cause;
    throw new HotcellError('api_unreachable', `The connection to the API broke: ${messageOf(cause)}. Try again.`, {
      cause,
    });
  }
  const all = Buffer.concat(chunks);
  return all.subarray(0, most ?? mostOf(all));
}

function textIn(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
