/** The items of all pages, or of as many as hold so many items. */
export async function everyPage<P extends { next: string | null }, T>(
  ask: (cursor: string | undefined) => Promise<P>,
  itemsOf: (page: P) => readonly T[],
  most = Number.POSITIVE_INFINITY,
): Promise<T[]> {
  const items: T[] = [];
  for (let cursor: string | null | undefined; cursor !== null && items.length < most; ) {
    const page: P = await ask(cursor);
    items.push(...itemsOf(page));
    cursor = page.next;
  }
  return items;
}
