import { readdirSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { Buckets } from '@hotcell/record/buckets.ts';
import { command, must } from '@hotcell/setup/command.ts';
import type { Installation } from '@hotcell/setup/settings/installation.ts';

const anyOfOurs = ['--filter', 'label=hotcell.managed=1'] as const;
const isOf = (id: string) => (label: string) => label === id || label.startsWith(`${id}x`);

/** What the tests left in the engine, except the two services that the runner itself stops. */
async function inEngine(id: string): Promise<string[]> {
  const labels = '{{.Label "hotcell.installation"}} {{.Label "hotcell.role"}}';
  const listings = [
    ['the container', ['docker', 'ps', '--all', ...anyOfOurs, '--format', `{{.Names}} ${labels} {{.Status}}`]],
    ['the volume', ['docker', 'volume', 'ls', ...anyOfOurs, '--format', `{{.Name}} ${labels}`]],
    ['the network', ['docker', 'network', 'ls', ...anyOfOurs, '--format', `{{.Name}} ${labels}`]],
  ] as const;
  const own = new RegExp(`^hotcell-${id}([-_](valkey-1|store-1|inside))$`);
  const found: string[] = [];
  for (const [what, argv] of listings)
    for (const line of (await must(argv)).split('\n')) {
      const [name = '', installation = ''] = line.split(' ');
      if (isOf(id)(installation) && !own.test(name)) found.push(`${what} ${line}`);
    }
  return found;
}

/** What keepers left above their cells. */
async function inCgroups(id: string): Promise<string[]> {
  const mount = '/sys/fs/cgroup';
  const tops = [mount, ...readdirSync(mount).map((name) => join(mount, name))].map((top) => join(top, 'hotcell'));
  const found = await Promise.all(
    tops.map(async (top) => (await readdir(top).catch(() => [])).filter(isOf(id)).map((name) => join(top, name))),
  );
  return found.flat().map((path) => `the cgroup ${path}`);
}

/** Removes containers of an earlier run that was killed. */
export async function removeEarlier({ id }: Installation): Promise<void> {
  const format = '{{.ID}} {{.Label "hotcell.installation"}}';
  for (const line of (await must(['docker', 'ps', '--all', ...anyOfOurs, '--format', format])).split('\n')) {
    const [container = '', installation = ''] = line.split(' ');
    if (isOf(id)(installation)) await command(['docker', 'rm', '--force', '--volumes', container]);
  }
}

/** Objects of the work bucket that should have gone with their runs, and unfinished uploads. */
async function inStore(installation: Installation): Promise<string[]> {
  using store = new Buckets(installation.store);
  const found: string[] = [];
  for (const prefix of ['open/', 'claims/', 'done/', 'cancel/', 'logs/', 'uploads/'])
    for await (const { key } of store.list(store.work, prefix)) found.push(`the object ${store.work}/${key}`);
  for (const bucket of [store.work, store.record])
    for (const { key } of await store.halfUploads(bucket)) found.push(`the half upload ${bucket}/${key}`);
  return found;
}

/** Keys that never expire. */
async function inQueue(installation: Installation): Promise<string[]> {
  const url = new URL(installation.redisUrl);
  const container = `hotcell-${installation.id}-valkey-1`;
  const cli = [
    'docker',
    'exec',
    '--env',
    `REDISCLI_AUTH=${decodeURIComponent(url.password)}`,
    container,
    'valkey-cli',
  ] as const;
  const script = `local left = {} for _, k in ipairs(redis.call('KEYS', '*')) do if redis.call('TTL', k) == -1 then left[#left + 1] = k end end return left`;
  const { code, stdout, stderr } = await command([...cli, 'EVAL', script, '0']);
  if (code !== 0) return [`the queue could not be looked through: ${stderr}`];
  // Every queue keeps a few bounded keys: its settings, its epoch, the trimmed stream of its events.
  const bounded = /:(meta|events|id|stalled-check|epoch|leader)$/;
  return stdout
    .split('\n')
    .filter((key) => key.trim() !== '' && !bounded.test(key))
    .map((key) => `the key ${key}`);
}

/** Everything the tests left behind, by name; it should be nothing. `temporary` is the tests' own folder. */
export async function leftOver(installation: Installation, temporary: string): Promise<string[]> {
  const found = await Promise.all([
    inEngine(installation.id),
    inCgroups(installation.id),
    inStore(installation),
    inQueue(installation),
  ]);
  return [...found.flat(), ...(await readdir(temporary)).map((name) => `the folder ${temporary}/${name}`)];
}
