import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { command } from '@hotcell/setup/command.ts';
import { ensureEngine } from '@hotcell/setup/engine/ensure-engine.ts';
import { install } from '@hotcell/setup/engine/packages.ts';
import { type SetupProgress, showProgressOn } from '@hotcell/setup/progress.ts';
import { haveImages } from '@hotcell/setup/services/images.ts';
import { furnishStore, refuseTakenPorts, startServices, stopParts } from '@hotcell/setup/services/start-services.ts';
import { placesIn } from '@hotcell/setup/settings/installation.ts';
import { prepareInstallation } from '@hotcell/setup/settings/prepare-installation.ts';
import { leftOver, removeEarlier } from './left-over.ts';

const services = ['valkey', 'store'] as const;

const isFree = (port: number) =>
  new Promise<boolean>((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });

/** Three free neighbouring ports for the tests' own installation. */
async function freePortBase(): Promise<number> {
  for (let base = 7811; base < 9811; base += 10) {
    const free = await Promise.all([base, base + 1, base + 2].map(isFree));
    if (free.every(Boolean)) return base;
  }
  throw new Error('no three neighbouring ports between 7811 and 9811 are free: set HOTCELL_PORT_BASE');
}

/** Checked before anything is built, or every second test would fail. */
function demandRoot(): void {
  if (process.platform === 'linux' && process.getuid?.() === 0) return;
  process.stderr.write(
    'these tests make mounts, network namespaces and engines of their own, which takes Linux and root: `sudo npm test`. Elsewhere `npm run test:unit` tests what needs no services, and `./hotcell demo` shows the rest\n',
  );
  process.exit(1);
}

/** Only the tests need it, for network namespaces. */
async function ensureIp(progress: SetupProgress): Promise<void> {
  if ((await command(['ip', '-Version'])).code === 0) return;
  await progress.step('installing iproute2', (say) => install(['iproute2'], say));
}

/**
 * The real parts that tests talk to: the engine, the images, and a store and a queue in a home of the tests' own.
 * Everything is installed, built and started as `up` does it, and stopped after the tests.
 */
export async function withBed(
  root: string,
  work: (look: () => Promise<string[]>, notes: string) => Promise<number>,
): Promise<number> {
  demandRoot();
  const progress = showProgressOn(process.stderr);
  process.env['HOTCELL_HOME'] ??= join(root, '.hotcell-test');
  await ensureEngine(progress, { yes: true });
  // Chosen after the engine has started: it may restart other containers, and they may take ports.
  process.env['HOTCELL_PORT_BASE'] ??= String(await freePortBase());
  await ensureIp(progress);
  const installation = await prepareInstallation(process.env);
  const places = placesIn(installation.home);
  const images = await haveImages(
    installation,
    [...services, 'cell-init', 'minimal', 'node', 'python', 'service', 'keeper'],
    progress,
  );
  // Leftovers of an earlier run that was killed are not this run's fault.
  await stopParts(installation, progress);
  await removeEarlier(installation);
  await Promise.all(
    [places.storeData, places.valkeyData, join(installation.home, 'test')].map((path) =>
      rm(path, { recursive: true, force: true }),
    ),
  );
  await refuseTakenPorts(installation, services, new Set());
  await startServices(installation, { valkey: images.valkey.id, store: images.store.id }, services, progress);
  await furnishStore(installation);
  // A short path, for sockets, and a folder of our own: whatever is in it afterwards was left by a test.
  const temporary = await mkdtemp(join(tmpdir(), 'hotcell-'));
  // For notes from the tests to their runner.
  const notes = await mkdtemp(join(tmpdir(), 'hotcell-notes-'));
  process.env['TMPDIR'] = temporary;
  // Node's default is in the temporary folder.
  process.env['NODE_COMPILE_CACHE'] ??= join(root, 'node_modules/.hotcell-compiled');
  try {
    return await work(() => leftOver(installation, temporary), notes);
  } finally {
    await Promise.all([temporary, notes].map((path) => rm(path, { recursive: true, force: true })));
    await stopParts(installation, progress);
    await Promise.all(
      [places.storeData, places.valkeyData, join(installation.home, 'test')].map((path) =>
        rm(path, { recursive: true, force: true }),
      ),
    );
  }
}
