/**
 * One read serves all who ask for the same thing at the same time. It begins after each of them asked: who asks while
 * one is under way shares the next.
 */
export class SharedReads<T> {
  readonly #underWay = new Map<string, { read: Promise<T>; next: Promise<T> | undefined }>();

  read(key: string, begin: () => Promise<T>): Promise<T> {
    const found = this.#underWay.get(key);
    if (!found) return this.#begin(key, begin);
    const again = () => this.#begin(key, begin);
    return (found.next ??= found.read.then(again, again));
  }

  #begin(key: string, begin: () => Promise<T>): Promise<T> {
    const read = begin();
    const underWay = { read, next: undefined };
    this.#underWay.set(key, underWay);
    const over = () => {
      if (this.#underWay.get(key) === underWay) this.#underWay.delete(key);
    };
    read.then(over, over);
    return read;
  }
}
