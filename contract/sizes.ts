import { formatBytes } from './format.ts';

/** `512m`, `512 MiB`, `1.5g` or plain bytes, in steps of 1024 like the engine; undefined for anything else. */
export function parseBytes(text: string): number | undefined {
  const [, number, prefix = ''] = /^(\d{1,15}(?:\.\d{1,6})?) ?(?:b|([kmgt])(?:i?b)?)?$/i.exec(text.trim()) ?? [];
  if (number === undefined) return undefined;
  const bytes = Number(number) * 1024 ** ['', 'k', 'm', 'g', 't'].indexOf(prefix.toLowerCase());
  return Number.isSafeInteger(bytes) ? bytes : undefined;
}

/** Rounded only where that is exact: two different sizes never look the same. */
export function exactBytes(bytes: number): string {
  const rounded = formatBytes(bytes);
  return parseBytes(rounded.replace(/bytes?/, 'b')) === bytes ? rounded : `${bytes} bytes`;
}
