/** The inverse of the worker's `encodeName`. */
export function decodeName(encoded: string): Buffer {
  const parts = encoded.split(/(%[0-9A-F]{2})/);
  return Buffer.concat(
    parts.map((part) =>
      /^%[0-9A-F]{2}$/.test(part) ? Buffer.from([Number.parseInt(part.slice(1), 16)]) : Buffer.from(part),
    ),
  );
}
