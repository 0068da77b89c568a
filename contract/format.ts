const units = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB'] as const;

/** 536870912 → "512 MiB", 1500 → "1.5 KiB". */
export function formatBytes(bytes: number): string {
  let value = bytes;
  let unit = 0;
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024;
    unit++;
  }
  if (unit === 0) return counted(bytes, 'byte');
  return `${Number(value.toFixed(1))} ${units[unit]}`;
}

/** 1 → "1 file", 2 → "2 files". */
export function counted(number: number, one: string, several = `${one}s`): string {
  return `${number} ${number === 1 ? one : several}`;
}

export function formatSeconds(ms: number): string {
  return `${Number((ms / 1000).toFixed(ms < 10_000 ? 2 : 1))} s`;
}
