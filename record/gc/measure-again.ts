import { Live } from '@hotcell/outside/live/live.ts';

/** What tenants have stored is less now. Without Valkey there is no figure that could be too high. */
export async function measureAgain(settings: { url: string; installation: string }): Promise<void> {
  await using live = await Live.open(settings);
  await live.stored.measureAgain().catch(() => undefined);
}
