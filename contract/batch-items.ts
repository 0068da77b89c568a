import { type BatchCounts, type BatchHead, type BatchItem, type BatchOver, chunkItems, type ItemEnd } from './batch.ts';
import { derivedRunId } from './derived-run-id.ts';
import type { Issue } from './errors.ts';
import type { RunId } from './names.ts';
import type { RunRequest } from './spec.ts';

/** The name under which an item's run is told of its item, in its params and labels. */
const word = 'batch';

type Named = Readonly<Record<string, unknown>>;

function isObject(value: unknown): value is Named {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** What of a request no item could run. */
export function judgeItemRequest(
  { params, labels = {}, inputs = {}, notBefore, publish, workspacePublish, callback }: RunRequest,
  over: BatchOver,
) {
  const issues: Issue[] = [];
  const refuse = (path: string, message: string) => issues.push({ path, message });
  if (params !== undefined && !isObject(params))
    refuse('params', `must be an object: each item adds "${word}" to it, which says its number.`);
  if (isObject(params) && Object.hasOwn(params, word))
    refuse(`params.${word}`, 'is set by each item to its number. Use another name.');
  if (Object.hasOwn(labels, word)) refuse(`labels.${word}`, 'is set by each item to the id. Use another label.');
  if (notBefore !== undefined) refuse('notBefore', 'is for single runs. A batch begins at once.');
  if (publish !== undefined) refuse('publish', 'is for single runs. Give "publish" to the batch, not to its runs.');
  if (workspacePublish !== undefined)
    refuse('workspacePublish', 'is for single runs: the items of a batch would take the name from each other.');
  if (callback !== undefined) refuse('callback', 'is for single runs. Give "callback" to the batch, not to its runs.');
  const as = mountedAs(over);
  if (as !== undefined && Object.hasOwn(inputs, as))
    refuse(`inputs.${as}`, `is where each run finds the snapshot of the batch. Use another name, or another "as".`);
  return issues;
}

function mountedAs(over: BatchOver): string | undefined {
  return 'as' in over ? over.as : undefined;
}

/** What an item asks for: the request of its batch with what is the item's own. */
export function itemRequest(
  { batch, request, over, pinned }: Pick<BatchHead, 'batch' | 'request' | 'over' | 'pinned'>,
  number: number,
  item: BatchItem,
): RunRequest {
  const params = isObject(request.params) ? request.params : {};
  const told = { id: batch, item: number, ...item.told };
  const as = mountedAs(over);
  return {
    ...request,
    params: { ...params, ...item.params, [word]: told },
    labels: { ...request.labels, [word]: batch },
    ...(as !== undefined && pinned && { inputs: { ...request.inputs, [as]: pinned.snapshot } }),
  };
}

/** Why a value can't be the params of an item; undefined if it can. */
export function whyNoItem(value: unknown): string | undefined {
  if (!isObject(value)) return 'must be a JSON object, whose members become params';
  if (Object.hasOwn(value, word)) return `has a member "${word}", which each item sets to its number`;
  if (Object.hasOwn(value, '__proto__')) return 'has a member "__proto__", which is no name';
  return undefined;
}

/**
 * The id of an item's run: a UUIDv7 of the round's beginning whose random part follows from batch, round and item.
 * Whichever leader begins the item, and however often, it is this one.
 */
export function itemRunId({ batch, rounds }: Pick<BatchHead, 'batch' | 'rounds'>, round: number, item: number): RunId {
  return derivedRunId(`${batch}/${round}/${item}`, Date.parse(rounds[round]?.at ?? ''));
}

/** Under which number an item is counted. */
export function fateOf({ outcome }: Pick<ItemEnd, 'outcome'>): keyof BatchCounts {
  if (outcome === null) return 'skipped';
  return outcome === 'succeeded' || outcome === 'cancelled' ? outcome : 'failed';
}

export const chunkOfItem = (item: number) => Math.floor(item / chunkItems);
export const firstOfChunk = (chunk: number) => chunk * chunkItems;
export const chunksOf = (items: number) => Math.ceil(items / chunkItems);
