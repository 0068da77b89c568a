import type { Disk } from '@hotcell/contract/api/disk.ts';
import type { Workers } from '@hotcell/contract/api/workers.ts';
import { formatBytes } from '@hotcell/contract/format.ts';
import { columns } from './columns.ts';
import { roughly } from './run-table.ts';

type Described = { workers: readonly Pick<Workers['workers'][number], 'name' | 'cacheBytes'>[] };

/** What takes room: kinds of objects, each worker's cache, and Valkey. */
export function diskTable({ measuredAt, kinds, valkey }: Disk, { workers }: Described, now = Date.now()): string {
  const rows = kinds
    .filter(({ objects }) => objects > 0)
    .map(({ kind, objects, bytes, bytesPerDay }) => [
      kind === 'work' ? 'work bucket' : kind,
      String(objects),
      formatBytes(bytes),
      bytesPerDay === null ? '-' : signed(bytesPerDay),
    ]);
  for (const { name, cacheBytes } of workers)
    if (cacheBytes !== undefined) rows.push([`cache of ${name}`, '-', formatBytes(cacheBytes), '-']);
  if (valkey) rows.push(['Valkey', '-', formatBytes(valkey.appendOnlyFileBytes ?? valkey.memoryBytes), '-']);
  const when =
    measuredAt === null
      ? 'the buckets have not been measured yet'
      : `measured ${roughly(now - Date.parse(measuredAt))} ago`;
  return `${columns(['DISK', 'OBJECTS', 'SIZE', 'A DAY'], rows)}(${when})\n`;
}

const signed = (bytes: number) => `${bytes < 0 ? '-' : '+'}${formatBytes(Math.abs(bytes))}`;
