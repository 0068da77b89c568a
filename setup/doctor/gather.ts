import { readFile, stat, statfs } from 'node:fs/promises';
import { freemem, release, totalmem } from 'node:os';
import { dirname } from 'node:path';
import { HotcellError, messageOf } from '@hotcell/contract/errors.ts';
import { probeQueue, probeStore } from '@hotcell/outside/probe.ts';
import { command } from '../command.ts';
import { gatherEngineFacts } from '../engine/facts.ts';
import { askEngine } from '../engine/info.ts';
import { presentImages } from '../images/engine.ts';
import { readImagesLock } from '../images/lock.ts';
import { composeRows, expectedServices, type ServiceRow } from '../services/compose.ts';
import {
  accounts,
  defaultPortBase,
  findInstallation,
  type Installation,
  settingsOf,
} from '../settings/installation.ts';
import { hasFlaggedView, stagedInputs } from '../services/flagged-view.ts';
import { describeHolder, holderOf, isFree } from '../settings/ports.ts';
import { accountKeys } from '../store/accounts.ts';
import { neededImages } from '../up.ts';
import type { Facts, PortFact } from './facts.ts';

/** The last line a program prints about itself, or nothing when there is no such program. */
async function said(...argv: [string, ...string[]]): Promise<string> {
  const { code, stdout } = await command(argv);
  return code === 0 ? (stdout.trim().split('\n')[0] ?? '') : '';
}

/** Free bytes where a folder is, or will be. */
async function freeAt(path: string): Promise<{ path: string; freeBytes: number }> {
  let there = path;
  while (!(await stat(there).catch(() => undefined)) && dirname(there) !== there) there = dirname(there);
  const { bavail, bsize } = await statfs(there);
  return { path, freeBytes: bavail * bsize };
}

async function disks(home: string): Promise<Facts['disk']> {
  const places = [home];
  const root = await said('docker', 'info', '--format', '{{.DockerRootDir}}');
  // An engine in a virtual machine keeps its images where we cannot look.
  const visible = root !== '' && (await stat(root).catch(() => undefined));
  if (visible && visible.dev !== (await stat(dirname(home)).catch(() => visible)).dev) places.push(root);
  return await Promise.all(places.map(freeAt));
}

async function availableMemory(): Promise<number> {
  const text = await readFile('/proc/meminfo', 'utf8').catch(() => '');
  const kib = /^MemAvailable:\s+(\d+) kB$/m.exec(text)?.[1];
  return kib === undefined ? freemem() : Number(kib) * 1024;
}

async function ports(base: number, running: readonly string[]): Promise<PortFact[]> {
  const wanted = [
    { port: base, service: 'producer' },
    { port: base + 1, service: 'store' },
    { port: base + 2, service: 'valkey' },
  ];
  return await Promise.all(
    wanted.map(async ({ port, service }): Promise<PortFact> => {
      if (running.includes(service)) return { port, service, state: 'ours' };
      if (await isFree(port)) return { port, service, state: 'free' };
      return { port, service, state: 'taken', holder: describeHolder(await holderOf(port)) };
    }),
  );
}

async function missingImages(home: string): Promise<string[]> {
  const [lock, present] = await Promise.all([readImagesLock(home), presentImages()]);
  const there = new Set<string>(present.values());
  return neededImages.filter((name) => !there.has(lock[name]?.digest ?? ''));
}

async function complaint(probe: Promise<void>): Promise<string> {
  try {
    await probe;
    return '';
  } catch (error) {
    if (error instanceof HotcellError) return error.message;
    throw new HotcellError('internal', `the probe itself failed: ${messageOf(error)}`, { cause: error });
  }
}

async function sharedKeys(installation: Installation): Promise<string[]> {
  if (installation.own.store) return [];
  const keys = await Promise.all(accounts.map(async (name) => ({ name, ...(await accountKeys(installation, name)) })));
  return keys.filter(({ accessKey }) => accessKey === installation.store.accessKey).map(({ name }) => name);
}

const isWell = (row: ServiceRow) => row.State === 'running' && row.Health !== 'unhealthy';

async function installationFacts(installation: Installation | undefined, rows: readonly ServiceRow[]) {
  if (!installation)
    return { installation: undefined, flaggedView: undefined, store: undefined, queue: undefined, sharedKeys: [] };
  const running = rows.filter(isWell).map((row) => row.Service);
  const { own, store, redisUrl, id, home } = installation;
  const storeRuns = !own.store || running.includes('store');
  const queueRuns = !own.valkey || running.includes('valkey');
  const unwell = rows.filter((row) => !isWell(row)).map((row) => row.Service);
  return {
    installation: { id, home, running, unwell, expected: expectedServices(installation) },
    flaggedView: { path: stagedInputs(installation), there: await hasFlaggedView(installation) },
    store: storeRuns ? await complaint(probeStore(store)) : undefined,
    queue: queueRuns ? await complaint(probeQueue(redisUrl)) : undefined,
    sharedKeys: await sharedKeys(installation),
  };
}

export async function gatherFacts(env: NodeJS.ProcessEnv): Promise<Facts> {
  const { home, settings } = await settingsOf(env);
  const [tools, engine, endpoint, composeVersion, buildxVersion, runscVersion, installation] = await Promise.all([
    gatherEngineFacts(),
    askEngine(),
    said('docker', 'context', 'inspect', '--format', '{{.Endpoints.docker.Host}}'),
    said('docker', 'compose', 'version', '--short'),
    said('docker', 'buildx', 'version'),
    said('runsc', '--version'),
    findInstallation(env),
  ]);
  const rows = installation && engine ? await composeRows(installation) : [];
  const about = await installationFacts(engine ? installation : undefined, rows);
  return {
    tools,
    node: process.versions.node,
    arch: process.arch,
    kernel: release(),
    engine,
    endpoint,
    composeVersion,
    buildxVersion,
    runscVersion,
    disk: await disks(home),
    memory: { totalBytes: totalmem(), availableBytes: await availableMemory() },
    now: new Date().toISOString(),
    ports: await ports(settings.HOTCELL_PORT_BASE ?? defaultPortBase, about.installation?.running ?? []),
    imagesMissing: engine ? await missingImages(home) : [],
    ...about,
  };
}
