import { chown, lstat, mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { keptOrMade, textIfThere, writeWhole } from '../settings/config-file.ts';
import { type Installation, placesIn } from '../settings/installation.ts';
import { writeAccounts } from '../store/accounts.ts';

/**
 * The services' user on the host: the caller or, if that is root, a user that owns nothing else. Cells lease uids from
 * 10000 upwards, so this one is below.
 */
export function serviceUser(): { uid: number; gid: number } {
  const uid = process.getuid?.() ?? 0;
  return uid === 0 ? { uid: 7411, gid: 7411 } : { uid, gid: process.getgid?.() ?? uid };
}

/**
 * The worker's user where a keeper makes its cells. It parses what cells send, so it is not even the other services' user
 * if that can be avoided.
 */
export function workerUser(): { uid: number; gid: number } {
  return process.getuid?.() === 0 ? { uid: 7412, gid: 7412 } : serviceUser();
}

async function folder(path: string, owner: { uid: number; gid: number }): Promise<void> {
  await mkdir(path, { recursive: true, mode: 0o700 });
  const { uid } = await lstat(path);
  if (uid !== owner.uid) await chown(path, owner.uid, owner.gid);
}

function valkeyConf(password: string): string {
  return `# Written by ./hotcell up.
bind * -::*
protected-mode no
requirepass ${password}
user health on nopass -@all +ping
dir /data
appendonly yes
appendfsync everysec
save ""
maxmemory 512mb
maxmemory-policy noeviction
# A ticket is a hash with one long value: packed, it takes two thirds.
hash-max-listpack-value 1024
`;
}

/** How a service in a container reaches the queue: our own by its name in the network, an external one by its address. */
function insideRedisUrl(installation: Installation): string {
  if (!installation.own.valkey) return installation.redisUrl;
  const url = new URL(installation.redisUrl);
  url.host = 'valkey:6379';
  return url.toString();
}

async function keepWritten(path: string, content: string, mode: number): Promise<void> {
  if ((await textIfThere(path)) !== content) await writeWhole(path, content, mode);
}

/** Write every file that the services read when they start. All of them follow from the installation. */
export async function writeServiceFiles(installation: Installation): Promise<void> {
  const places = placesIn(installation.home);
  const owner = serviceUser();
  // Only the engine, which is root, has to enter the folders above.
  await mkdir(dirname(places.storeData), { recursive: true, mode: 0o755 });
  for (const name of ['', 'buckets', 'versions', 'iam']) await folder(join(places.storeData, name), owner);
  await folder(places.valkeyData, owner);
  await folder(places.producerState, owner);
  await mkdir(places.workerState, { recursive: true, mode: 0o711 });
  await mkdir(places.logs, { recursive: true });
  await mkdir(places.keeperFolder, { recursive: true, mode: 0o711 });
  // The keeper's socket: only the worker, which has this folder mounted, comes through the home.
  await folder(places.keeperRun, workerUser());
  await writeAccounts(installation);
  const users = join(places.storeData, 'iam', 'users.json');
  if ((await lstat(users)).uid !== owner.uid) await chown(users, owner.uid, owner.gid);
  await keptOrMade(places.sources, 0o444, () => '{ "version": 1, "sources": [] }\n');
  await mkdir(dirname(places.quotas), { recursive: true, mode: 0o755 });
  await keptOrMade(places.quotas, 0o644, () => 'version: 1\n');
  const { password } = new URL(installation.redisUrl);
  await keepWritten(places.secret('valkey.conf'), valkeyConf(password), 0o444);
  const { accessKey, secretKey } = installation.store;
  await keepWritten(places.secret('store-root'), `${accessKey}\n${secretKey}\n`, 0o444);
  await keepWritten(places.secret('redis-url'), insideRedisUrl(installation), 0o444);
}
