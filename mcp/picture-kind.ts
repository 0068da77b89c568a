const kinds: readonly (readonly [mimeType: string, at: number, begins: readonly number[]])[] = [
  ['image/png', 0, [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]],
  ['image/jpeg', 0, [0xff, 0xd8, 0xff]],
  ['image/gif', 0, [0x47, 0x49, 0x46, 0x38]],
  ['image/webp', 8, [0x57, 0x45, 0x42, 0x50]],
];

/** The kind of a picture by its first bytes: a job chooses a file's name, and may choose a wrong one. */
export function pictureType(bytes: Uint8Array): string | undefined {
  return kinds.find(([, at, begins]) => begins.every((byte, index) => bytes[at + index] === byte))?.[0];
}
