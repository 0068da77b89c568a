function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++)
      next[j] = Math.min(
        (row[j] ?? 0) + 1,
        (next[j - 1] ?? 0) + 1,
        (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1),
      );
    row = next;
  }
  return row[b.length] ?? 0;
}

/** A longer name is no typing error, and comparing it would cost the square of its length. */
const longest = 64;

/** The known name that was probably meant: one that begins like this, or is a typing error away. */
export function nearest(name: string, known: readonly string[]): string | undefined {
  if (name.length > longest) return undefined;
  const begun = known.find((one) => name.length >= 3 && one.startsWith(name));
  if (begun !== undefined) return begun;
  const [best] = known
    .map((k) => ({ k, d: distance(name.toLowerCase(), k.toLowerCase()) }))
    .toSorted((a, b) => a.d - b.d);
  return best && best.d <= Math.max(2, Math.floor(name.length / 4)) && best.d < name.length ? best.k : undefined;
}
