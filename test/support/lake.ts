import { join } from 'node:path';
import type { Source } from '@hotcell/contract/sources.ts';
import type { Bed } from './bed.ts';
import { contentsAs } from './freezing.ts';
import { type House, openHouse } from './house.ts';
import { openHttpProxy } from './http-proxy.ts';

/** A house, and two foreign buckets that it may read from: one keeps versions, the other does not. */
export async function openLake(bed: Bed) {
  const stack = new AsyncDisposableStack();
  const lakeProxy = stack.use(await openHttpProxy(bed.installation.store.endpoint));
  const ownProxy = stack.use(await openHttpProxy(bed.installation.store.endpoint));
  const foreign: House = stack.use(await openHouse(bed));
  const house: House = stack.use(await openHouse(bed));
  const { record: versioned, work: unversioned } = foreign.store;
  const { accessKey, secretKey, region } = bed.installation.store;
  const opened = { endpoint: lakeProxy.url, accessKey, secretKey, region };
  const sources: Source[] = [
    { bucket: versioned, ...opened, prefixes: ['open/'] },
    { bucket: unversioned, ...opened, prefixes: ['open/'], tenants: [house.tenant] },
  ];
  const contents = stack.use(await contentsAs(house, 'producer', { sources, endpoint: ownProxy.url }));
  return {
    house,
    foreign,
    /** Before the foreign buckets, and before the house's own. */
    lakeProxy,
    ownProxy,
    versioned,
    unversioned,
    sources,
    contents,
    /** What a freeze in this process needs. */
    deps: { store: house.producer.store, contents, spool: join(await bed.folder('spool'), 'spool') },
    put: (bucket: string, key: string, text: string | Buffer) => foreign.store.put(bucket, key, text),
    readsOf: (prefix: string) =>
      lakeProxy.seen.filter((s) => s.method === 'GET' && s.path.startsWith(`/${versioned}/${prefix}`)),
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}
