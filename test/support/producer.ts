import { join } from 'node:path';
import { newApiKey } from '@hotcell/record/api-keys.ts';
import { recordKeys } from '@hotcell/record/layout.ts';
import { makeTenant } from '@hotcell/record/made-tenants.ts';
import type { Role } from '@hotcell/contract/apikey.ts';
import { Hotcell } from '@hotcell/client/index.ts';
import { checkout, placesIn } from '@hotcell/setup/settings/installation.ts';
import type { Bed } from './bed.ts';
import { type Child, spawnNode } from './child.ts';
import type { House } from './house.ts';
import { until } from './until.ts';

/** A producer process as in production, for one house, on a free port. */
export interface RunningProducer extends AsyncDisposable {
  readonly url: string;
  readonly child: Child;
  /** Makes an API key. */
  key(role?: Role, tenant?: string): Promise<string>;
  client(role?: Role, tenant?: string): Promise<Hotcell>;
  /** Sends one request as any HTTP client would. */
  ask(method: string, path: string, options?: Asking): Promise<Response>;
}

interface Asking {
  key?: string;
  body?: string | Uint8Array<ArrayBuffer>;
  headers?: Readonly<Record<string, string>>;
  signal?: AbortSignal;
}

export async function startProducer(
  bed: Bed,
  house: House,
  more: Readonly<Record<string, string>> = {},
): Promise<RunningProducer> {
  const env = await house.settings('producer', {
    HOTCELL_LISTEN_PORT: '0',
    HOTCELL_STATE_DIR: await bed.folder('producer'),
    HOTCELL_POLICIES: join(checkout, 'policies'),
    HOTCELL_IMAGES_LOCK: placesIn(bed.installation.home).imagesLock,
    HOTCELL_LOG_LEVEL: 'info',
    ...more,
  });
  const child = spawnNode('producer/producer-main.ts', env);
  await child.saying('"address"');
  const url = /"address":"([^"]+)"/.exec(child.said())?.[1] ?? '';
  const key = async (role: Role = 'submitter', tenant = house.tenant) => {
    const made = newApiKey({ tenant, role, label: 'test' });
    // A tenant has keys only once the operator has made it.
    await makeTenant(house.store, { version: 1, tenant, by: 'test', at: new Date().toISOString() });
    await house.store.put(house.store.record, recordKeys.apiKey(made.record.id), JSON.stringify(made.record));
    return made.key;
  };
  const usual = await key();
  return {
    url,
    child,
    key,
    client: async (role, tenant) => new Hotcell({ url, apiKey: await key(role, tenant) }),
    ask: async (method, path, { key: apiKey = usual, body, headers, signal } = {}) =>
      await fetch(`${url}${path}`, {
        method,
        headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json', ...headers },
        ...(body === undefined ? {} : { body }),
        ...(signal ? { signal } : {}),
      }),
    [Symbol.asyncDispose]: () => child[Symbol.asyncDispose](),
  };
}

/**
 * Before a house is removed: stops the producer, clears up behind what is finished, and waits until the workers have taken the
 * tickets that recovery queued again.
 */
export async function settle(house: House, producer: RunningProducer, queue = 'runc'): Promise<void> {
  await producer[Symbol.asyncDispose]();
  await house.clearFinished();
  await until('no ticket waits any more', async () => (await house.producer.queues.of(queue).depth()) === 0);
}
