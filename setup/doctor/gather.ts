import { HotcellError, messageOf } from '@hotcell/contract/errors.ts';
import { join } from 'node:path';
import { KeeperDoor } from '@hotcell/outside/keeper/keeper-door.ts';
import { probeQueue } from '@hotcell/outside/queue/probe-queue.ts';
import { probeStore } from '@hotcell/outside/store/probe-store.ts';
import { gatherEngineFacts } from '../engine/engine-facts.ts';
import { presentImages } from '../images/image-engine.ts';
import { lockedImages } from '../images/images-lock-file.ts';
import { composeRows, expectedServices, type ServiceRow } from '../services/compose.ts';
import {
  accounts,
  defaultPortBase,
  findInstallation,
  type Installation,
  placesIn,
  settingsOf,
} from '../settings/installation.ts';
import { hasFlaggedView, stagedInputs } from '../services/flagged-view.ts';
import { describeHolder, holderOf, isFree } from '../settings/ports.ts';
import { accountKeys } from '../store/accounts.ts';
import { neededImages } from '../up.ts';
import type { Facts, PortFact } from './doctor-facts.ts';
import { gatherMachine } from './gather-machine.ts';

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

async function missingImages(home: string, cells: Installation['cells']): Promise<string[]> {
  const [lock, present] = await Promise.all([lockedImages(home), presentImages()]);
  const there = new Set<string>(present.values());
  return neededImages({ cells }).filter((name) => !there.has(lock[name]?.digest ?? ''));
}

async function complaint(probe: Promise<void>): Promise<string> {
  try {
    await probe;
    return '';
  } catch (error) {
    if (error instanceof HotcellError) return error.message;
    throw new HotcellError('internal', `The probe failed to run: ${messageOf(error)}.`, { cause: error });
  }
}

async function sharedKeys(installation: Installation): Promise<string[]> {
  if (installation.own.store) return [];
  const keys = await Promise.all(accounts.map(async (name) => ({ name, ...(await accountKeys(installation, name)) })));
  return keys.filter(({ accessKey }) => accessKey === installation.store.accessKey).map(({ name }) => name);
}

async function cellFacts({ home, cells, cellsBecause: why }: Installation): Promise<Facts['cells']> {
  if (cells === 'engine') return { way: 'engine', why };
  const door = new KeeperDoor(join(placesIn(home).keeperRun, 'keeper.sock'));
  return { way: 'keeper', why, keeper: await door.ask({ ask: 'about' }).catch(messageOf) };
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
  const [machine, found] = await Promise.all([
    gatherEngineFacts().then((tools) => gatherMachine(home, tools)),
    findInstallation(env),
  ]);
  const installation = machine.engine ? found : undefined;
  const about = await installationFacts(installation, installation ? await composeRows(installation) : []);
  return {
    ...machine,
    ports: await ports(settings.HOTCELL_PORT_BASE ?? defaultPortBase, about.installation?.running ?? []),
    imagesMissing: machine.engine ? await missingImages(home, found?.cells ?? 'engine') : [],
    cells: installation && (await cellFacts(installation)),
    ...about,
  };
}
