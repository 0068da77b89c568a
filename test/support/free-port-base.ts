import { isFree } from '@hotcell/setup/settings/ports.ts';

/** Three free ports below the ephemeral ones, and away from the usual installations. */
export async function freePortBase(): Promise<number> {
  for (;;) {
    const base = 12_000 + Math.floor(Math.random() * 1_500) * 10;
    const free = await Promise.all([base, base + 1, base + 2].map(isFree));
    if (free.every(Boolean)) return base;
  }
}
