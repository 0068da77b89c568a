/** The obvious program: copy everything under a prefix into a folder, or back, with the SDK. */
import { readdirSync, readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Buckets } from '@hotcell/record/buckets.ts';
import { many } from './many.ts';
import { sayAtEnd } from './own-process.ts';

const { store: settings, verb, prefix, folder, atOnce } = JSON.parse(process.env['ASKED'] ?? '{}');
using store = new Buckets({ ...settings, sockets: atOnce });
const names: string[] = verb === 'put' ? readdirSync(folder) : [];
if (verb === 'get') for await (const { key } of store.list(store.record, prefix)) names.push(key);
const since = performance.now();
await many(names.length, atOnce, async (i) => {
  const name = names[i] ?? '';
  if (verb === 'put') await store.put(store.record, prefix + name, readFileSync(join(folder, name)));
  else await writeFile(join(folder, name.split('/').at(-1) ?? ''), (await store.getBytes(store.record, name)) ?? '');
});
sayAtEnd(performance.now() - since);
