import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { HotcellError } from '@hotcell/contract/errors.ts';
import { readCliSettings } from '@hotcell/setup/settings/environment.ts';
import { defaultPortBase, loopback, placesIn, settingsOf } from '@hotcell/setup/settings/installation.ts';

/**
 * Where the API is and which key to use: both from the caller, or both from the installation's files. A key of the
 * caller's never goes to an address that a file names, and the key of the files to no address but theirs.
 */
export async function addressAndKey(
  asked: string | undefined,
  env: NodeJS.ProcessEnv,
): Promise<{ url: string; apiKey: string }> {
  const { HOTCELL_URL, HOTCELL_PORT_BASE, HOTCELL_API_KEY: apiKey } = readCliSettings(env);
  const given = asked ?? HOTCELL_URL;
  const { home, settings } = await settingsOf({ ...env, HOTCELL_URL: undefined });
  const own = settings.HOTCELL_URL ?? loopback(settings.HOTCELL_PORT_BASE ?? defaultPortBase);
  const { config, credentials } = placesIn(home);
  if (apiKey !== undefined) {
    const url = given ?? (HOTCELL_PORT_BASE === undefined ? undefined : loopback(HOTCELL_PORT_BASE));
    if (url !== undefined) return { url, apiKey };
    if (!existsSync(config)) return { url: loopback(defaultPortBase), apiKey };
    const what = `Set HOTCELL_URL too (${config} says ${own}), or unset HOTCELL_API_KEY.`;
    throw new HotcellError('invalid', `HOTCELL_API_KEY is set without HOTCELL_URL. ${what}`);
  }
  if (given !== undefined && !sameAddress(given, own)) {
    const what = `Set HOTCELL_API_KEY: the key in ${credentials} is for ${own} only.`;
    throw new HotcellError('unauthenticated', `No API key for ${given}. ${what}`);
  }
  return { url: own, apiKey: await keptKey(credentials) };
}

const sameAddress = (one: string, other: string) => one.replace(/\/+$/, '') === other.replace(/\/+$/, '');

async function keptKey(path: string): Promise<string> {
  try {
    return (await readFile(path, 'utf8')).trim();
  } catch (cause) {
    const why = (cause as NodeJS.ErrnoException).code === 'ENOENT' ? 'does not exist' : 'is not readable';
    const what = 'Run ./hotcell up, which creates a key, or set HOTCELL_URL and HOTCELL_API_KEY.';
    throw new HotcellError('unauthenticated', `No API key: ${path} ${why}. ${what}`, { cause });
  }
}
