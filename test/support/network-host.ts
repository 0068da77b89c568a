import { randomInt } from 'node:crypto';
import { must } from '@hotcell/setup/command.ts';
import type { Bed } from './bed.ts';
import { openTcpProxy } from './tcp-proxy.ts';

/** A host of its own, as far as the network goes: all it can reach is Valkey and the store, over one link. */
export interface NetworkHost extends AsyncDisposable {
  /** Where Valkey and the store are, seen from there. */
  readonly env: Readonly<Record<'HOTCELL_REDIS_URL' | 'HOTCELL_S3_ENDPOINT', string>>;
  /** What a command is put behind to be run there. */
  readonly within: readonly [string, ...string[]];
  /** The link goes down: nothing is told, nothing gets through. */
  cut(): Promise<void>;
  heal(): Promise<void>;
}

/**
 * A network namespace with one link to this one, and forwarders at this end of it. Its folders are what it is given;
 * `hidden` are those of other hosts, which are not there for it.
 */
export async function openNetworkHost(bed: Bed, hidden: readonly string[]): Promise<NetworkHost> {
  await using building = new AsyncDisposableStack();
  const id = bed.id();
  const link = `hc${id.slice(-8)}`;
  // Addresses that are kept for measuring networks, and are nobody's.
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
