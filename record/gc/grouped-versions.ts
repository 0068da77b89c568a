import type { Digest } from '@hotcell/contract/digest.ts';
import type { ListedVersion } from '@hotcell/outside/store/store-list.ts';
import type { Buckets } from '../buckets.ts';

/** Everything of a key, the newest first. */
export interface Versions {
  name: Digest;
  versions: ListedVersion[];
}

/**
 * The objects under a prefix that are named by a digest, each with all its versions, in the order of their keys: one is
 * held at a time.
 */
export async function* groupedVersions(store: Buckets, prefix: string, name: RegExp): AsyncGenerator<Versions> {
  let last: Versions | undefined;
  for await (const version of store.listVersions(store.record, prefix)) {
    const rest = version.key.slice(prefix.length);
    const hex = name.exec(rest)?.[1];
    // Folders beside the objects come after every hex digit.
    if (hex === undefined && rest > 'g') break;
    if (hex === undefined) continue;
    if (last && last.name !== `sha256:${hex}`) yield last;
    if (last?.name === `sha256:${hex}`) last.versions.push(version);
    else last = { name: `sha256:${hex}`, versions: [version] };
  }
  if (last) yield last;
}

/** Two such lists side by side, by name; what only one of them has is empty in the other. */
export async function* sideBySide(
  left: AsyncGenerator<Versions>,
  right: AsyncGenerator<Versions>,
): AsyncGenerator<{ name: Digest; left: ListedVersion[]; right: ListedVersion[] }> {
  let [a, b] = [await left.next(), await right.next()];
  while (!a.done || !b.done) {
    const name = [a, b].flatMap((one) => (one.done ? [] : [one.value.name])).toSorted()[0];
    if (name === undefined) return;
    const isLeft = !a.done && a.value.name === name;
    const isRight = !b.done && b.value.name === name;
    yield { name, left: isLeft ? a.value.versions : [], right: isRight ? b.value.versions : [] };
    if (isLeft) a = await left.next();
    if (isRight) b = await right.next();
  }
}
