import { whyNoItem } from './batch-items.ts';
import { type BatchOver, mostItemBytes } from './batch.ts';
import type { Issue } from './errors.ts';
import { exactBytes } from './sizes.ts';
import type { RunRequest } from './spec.ts';

/** Each item has a copy of the run in its spec, and the leader holds both for as long as the batch goes on. */
const mostRequestBytes = 1024 * 1024;
const asFile = 'Write the items as lines of a file, freeze it as a snapshot, and pass it as over.lines.';

const bytesOf = (value: unknown) => Buffer.byteLength(JSON.stringify(value));

/** What is to be said of the run by itself. */
export function tooLarge(request: RunRequest): Issue[] {
  const bytes = bytesOf(request);
  if (bytes <= mostRequestBytes) return [];
  const message = `takes ${exactBytes(bytes)}, and the run of a batch has at most ${exactBytes(mostRequestBytes)}. Pass large files as an input.`;
  return [{ path: '(whole)', message: `The run ${message}` }];
}

/** What is wrong with items that come with the request: with each, and with all of them beside its run. */
export function judgeListed(request: RunRequest, over: BatchOver): Issue[] {
  if (!('items' in over)) return [];
  const refused = over.items.flatMap((item, at) => {
    const message = whyNoItem(item) ?? whyTooLarge(bytesOf({ params: item }));
    return message === undefined ? [] : [{ path: `over.items[${at}]`, message }];
  });
  const room = Math.max(0, mostRequestBytes - bytesOf(request));
  const bytes = bytesOf(over.items);
  if (refused.length > 0 || bytes <= room) return refused;
  const message = `take ${exactBytes(bytes)}, and ${exactBytes(mostRequestBytes)} less the run leaves ${exactBytes(room)} for them. ${asFile}`;
  return [{ path: 'over.items', message }];
}

function whyTooLarge(bytes: number): string | undefined {
  if (bytes <= mostItemBytes) return undefined;
  return `takes ${exactBytes(bytes)}, and an item has at most ${exactBytes(mostItemBytes)}. Pass larger data as a file or an input.`;
}
