import { randomInt } from 'node:crypto';
import { must } from '@hotcell/setup/command.ts';
import type { Bed } from './bed.ts';
import { openTcpProxy } from './tcp-proxy.ts';

/** A separate host as far as the network goes: it reaches only Valkey and the store, over one link. */
export interface NetworkHost extends AsyncDisposable {
  /** Settings for Valkey and the store as seen from there. */
  readonly env: Readonly<Record<'HOTCELL_REDIS_URL' | 'HOTCELL_S3_ENDPOINT', string>>;
  /** A command prefix that runs a command there. */
  readonly within: readonly [string, ...string[]];
  /** Takes the link down, so that packets vanish silently. */
  cut(): Promise<void>;
  heal(): Promise<void>;
}

/**
 * A network namespace with one link to this one, and forwarders at this end. `hidden` are the folders of other hosts, which
 * it does not see.
 */
export async function openNetworkHost(bed: Bed, hidden: readonly string[]): Promise<NetworkHost> {
  await using building = new AsyncDisposableStack();
  const id = bed.id();
  const link = `hc${id.slice(-8)}`;
  // Addresses reserved for benchmarks, which no network uses.
  const net = `198.${18 + randomInt(2)}.${randomInt(256)}`;
  const here = `${net}.1`;
  const ip = (...words: string[]) => must(['ip', ...words]);
  await ip('netns', 'add', id);
  building.defer(async () => void (await ip('netns', 'delete', id)));
  await ip('link', 'add', link, 'type', 'veth', 'peer', 'name', 'up0', 'netns', id);
  building.defer(async () => void (await ip('link', 'delete', link)));
  await ip('address', 'add', `${here}/30`, 'dev', link);
  await ip('link', 'set', link, 'up');
  await ip('-netns', id, 'address', 'add', `${net}.2/30`, 'dev', 'up0');
  await ip('-netns', id, 'link', 'set', 'up0', 'up');
  const forwarded = async (address: string) => {
    const url = new URL(address);
    const target = { host: url.hostname, port: Number(url.port) };
    const proxy = building.use(await openTcpProxy(target, { host: here }));
    url.host = `${here}:${proxy.port}`;
    return url.href;
  };
  const env = {
    HOTCELL_REDIS_URL: await forwarded(bed.installation.redisUrl),
    HOTCELL_S3_ENDPOINT: await forwarded(bed.installation.store.endpoint),
  };
  const hide = hidden.map((folder) => `mount -t tmpfs none '${folder}' && `).join('');
  const parts = building.move();
  return {
    env,
    within: ['ip', 'netns', 'exec', id, 'unshare', '--mount', 'sh', '-c', `${hide}exec "$@"`, 'sh'],
    cut: async () => void (await ip('link', 'set', link, 'down')),
    heal: async () => void (await ip('link', 'set', link, 'up')),
    [Symbol.asyncDispose]: () => parts.disposeAsync(),
  };
}
