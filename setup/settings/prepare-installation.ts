import { createPublicKey, generateKeyPairSync, randomBytes } from 'node:crypto';
import { chmod, mkdir, readdir, rm } from 'node:fs/promises';
import { SigningKey } from '@hotcell/contract/evidence/signing-key.ts';
import { HotcellError } from '@hotcell/contract/errors.ts';
import { keptChoice } from '../cells/cells-choice.ts';
import { formatConfig, keptOrMade, textIfThere, writeWhole } from './config-file.ts';
import { accounts, type Installation, installationOf, placesIn, settingsOf } from './installation.ts';

/** A secret that a container reads as another user: readable to all, in a folder that only we can enter. */
const secretMode = 0o444;
const privateMode = 0o600;

const word = (bytes: number) => randomBytes(bytes).toString('base64url');

function shortId(): string {
  const letters = 'abcdefghijklmnopqrstuvwxyz0123456789';
  return [...randomBytes(6)].map((byte) => letters[byte % letters.length]).join('');
}

function ticketKey(): string {
  return generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
}

const apiKeyPrefix = 'hc_';

/**
 * Create an installation's files, or complete them: running it twice changes nothing. Settings from the environment are
 * kept in config.env, so that the next command does not need them.
 */
export async function prepareInstallation(env: NodeJS.ProcessEnv): Promise<Installation> {
  const { home, settings } = await settingsOf(env);
  const places = placesIn(home);
  await mkdir(home, { recursive: true, mode: 0o755 });
  for (const folder of [places.secrets, places.keys]) {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await chmod(folder, 0o700);
  }
  await mkdir(places.trust, { recursive: true });
  const secret = (name: string, bytes: number) => keptOrMade(places.secret(name), secretMode, () => word(bytes));
  const generated = {
    id: settings.HOTCELL_INSTALLATION ?? shortId(),
    accessKey: settings.HOTCELL_S3_ACCESS_KEY ?? `operator-${word(6)}`,
    secretKey: settings.HOTCELL_S3_SECRET_KEY ?? word(24),
    redisPassword: await secret('redis-password', 24),
    cells: await keptChoice(places.cells),
  };
  const installation = installationOf(home, settings, generated);
  const outside = !installation.own.store && (!settings.HOTCELL_S3_ACCESS_KEY || !settings.HOTCELL_S3_SECRET_KEY);
  if (outside)
    throw new HotcellError(
      'invalid',
      'HOTCELL_S3_ENDPOINT names an external store. Also set HOTCELL_S3_ACCESS_KEY and HOTCELL_S3_SECRET_KEY.',
    );
  refuseLoopback(installation);
  await keepConfig(installation, settings);
  await keepAccounts(installation, secret);
  const privateKey = await keptOrMade(places.ticketKey, secretMode, ticketKey);
  const publicKey = createPublicKey(privateKey).export({ type: 'spki', format: 'pem' }).toString();
  await keptOrMade(places.ticketPublicKey, secretMode, () => publicKey);
  await keepRoot(places);
  await keptOrMade(places.credentials, privateMode, () => `${apiKeyPrefix}${word(32)}\n`);
  return installation;
}

/** Made once, with the installation. An installation that trusts a root already never makes another one. */
async function keepRoot({ rootKey, trust, trustedRoot }: ReturnType<typeof placesIn>): Promise<void> {
  if ((await readdir(trust)).some((name) => name.endsWith('.pem'))) return;
  const root = new SigningKey(await keptOrMade(rootKey, privateMode, () => SigningKey.generate()), rootKey);
  await keptOrMade(trustedRoot, 0o444, () => root.public.pem);
}

/** In a container, loopback is the container itself. */
function refuseLoopback({ own, store, redisUrl }: Installation): void {
  for (const [name, isOwn, address] of [
    ['HOTCELL_S3_ENDPOINT', own.store, store.endpoint],
    ['HOTCELL_REDIS_URL', own.valkey, redisUrl],
  ] as const) {
    if (isOwn || !/^(localhost|127\.|\[::1\])/.test(new URL(address).hostname)) continue;
    const message = `${name} is a loopback address, which services in containers can't reach. Use this machine's address in its network.`;
    throw new HotcellError('invalid', message);
  }
}

async function keepConfig(installation: Installation, settings: Awaited<ReturnType<typeof settingsOf>>['settings']) {
  const { config } = placesIn(installation.home);
  const { store } = installation;
  const content = formatConfig({
    HOTCELL_INSTALLATION: installation.id,
    HOTCELL_PORT_BASE: String(installation.ports.api),
    HOTCELL_URL: installation.url,
    HOTCELL_S3_ENDPOINT: store.endpoint,
    HOTCELL_S3_REGION: store.region,
    HOTCELL_RECORD_BUCKET: store.record,
    HOTCELL_WORK_BUCKET: store.work,
    HOTCELL_S3_ACCESS_KEY: store.accessKey,
    HOTCELL_S3_SECRET_KEY: store.secretKey,
    HOTCELL_REDIS_URL: installation.redisUrl,
    HOTCELL_LOG_LEVEL: settings.HOTCELL_LOG_LEVEL,
    HOTCELL_CELLS: settings.HOTCELL_CELLS,
    ...installation.passed,
  });
  if ((await textIfThere(config)) !== content) await writeWhole(config, content, privateMode);
}

/**
 * Each process's own key to the store. With an external store, the operator creates the accounts and puts their keys into
 * these files. Until then the processes use the operator's keys, and `doctor` warns about it.
 */
async function keepAccounts(installation: Installation, secret: (name: string, bytes: number) => Promise<string>) {
  const places = placesIn(installation.home);
  const { accessKey, secretKey, endpoint } = installation.store;
  const forStore = installation.own.store ? 'own' : endpoint;
  const before = await textIfThere(places.secret('accounts-for'));
  // Keys to the previous store are useless in another one.
  if (before !== undefined && before !== forStore)
    for (const account of accounts)
      for (const half of ['access', 'secret']) await rm(places.secret(`${account}-s3-${half}-key`), { force: true });
  if (before !== forStore) await writeWhole(places.secret('accounts-for'), forStore, privateMode);
  for (const account of accounts) {
    if (installation.own.store) {
      await keptOrMade(places.secret(`${account}-s3-access-key`), secretMode, () => `${account}-${word(6)}`);
      await secret(`${account}-s3-secret-key`, 24);
    } else {
      await keptOrMade(places.secret(`${account}-s3-access-key`), secretMode, () => accessKey);
      await keptOrMade(places.secret(`${account}-s3-secret-key`), secretMode, () => secretKey);
    }
  }
}
