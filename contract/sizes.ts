import { formatBytes } from './format.ts';

const units: Readonly<Record<string, number>> = {
  '': 1,
  b: 1,
  k: 1024,
  kb: 1024,
  kib: 1024,
  m: 1024 ** 2,
  mb: 1024 ** 2,
  mib: 1024 ** 2,
  g: 1024 ** 3,
  gb: 1024 ** 3,
  gib: 1024 ** 3,
  t: 1024 ** 4,
  tb: 1024 ** 4,
  tib: 1024 ** 4,
};

/** `512m`, `512 MiB`, `1.5g` or plain bytes, in steps of 1024 like the engine; undefined for anything else. */
export function parseBytes(text: string): number | undefined {
  const [, number, unit] = /^(\d{1,15}(?:\.\d{1,6})?) ?([a-z]{0,3})$/i.exec(text.trim()) ?? [];
  const factor = units[(unit ?? '').toLowerCase()];
  if (number === undefined || factor === undefined) return undefined;
  const bytes = Number(number) * factor;
  return Number.isSafeInteger(bytes) ? bytes : undefined;
}

/** Rounded only where that is exact: two different sizes never look the same. */
export function exactBytes(bytes: number): string {
  const rounded = formatBytes(bytes);
  return parseBytes(rounded.replace('bytes', 'b')) === bytes ? rounded : `${bytes} bytes`;
}
