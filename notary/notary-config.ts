import { commonSettings, readSettings } from '@hotcell/outside/process/settings.ts';
import { z } from 'zod';

/** Everything the notary reads from its environment, in one place. */
export const notarySettings = z.object({ ...commonSettings });

export function readNotarySettings(env: Readonly<Record<string, string | undefined>>) {
  return readSettings(notarySettings, env);
}
