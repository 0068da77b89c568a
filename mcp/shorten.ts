/** A model reads every character: of a long text it gets the beginning and the end, which say most. */
export function shorten(text: string, most: number): { text: string; isWhole: boolean } {
  if (text.length <= most) return { text, isWhole: true };
  const half = Math.floor(most / 2);
  const [head, tail] = [text.slice(0, half), text.slice(-half)];
  const left = text.length - 2 * half;
  // A cut may go through a character of two code units.
  return { text: `${head}\n[… ${left} characters left out …]\n${tail}`.toWellFormed(), isWhole: false };
}
