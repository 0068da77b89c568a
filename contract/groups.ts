/** The items in groups of at most so many, in their order. */
export async function* groupsOf<T>(items: AsyncIterable<T>, most: number): AsyncGenerator<T[]> {
  let some: T[] = [];
  for await (const item of items) {
    if (some.push(item) < most) continue;
    yield some;
    some = [];
  }
  if (some.length > 0) yield some;
}
