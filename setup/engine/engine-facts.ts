import { access, constants, readFile } from 'node:fs/promises';
import { command } from '../command.ts';

/** The facts about this machine that decide how it gets an engine. */
export interface EngineFacts {
  platform: NodeJS.Platform;
  distribution: { id: string; codename: string };
  root: boolean;
  systemd: boolean;
  /** The address that the client uses, such as `unix:///…`. Empty without a client. */
  endpoint: string;
  answers: boolean;
  /** Why the engine does not answer, in the client's words. */
  refusal: string;
  dockerd: boolean;
  compose: boolean;
  composeVersion: string;
  buildx: boolean;
  buildxVersion: string;
  runsc: boolean;
  mmdebstrap: boolean;
  daemonJson: string | undefined;
  halfInstalled: boolean;
}

export const daemonJsonPath = '/etc/docker/daemon.json';

async function exists(path: string): Promise<boolean> {
  return await access(path, constants.F_OK).then(
    () => true,
    () => false,
  );
}

async function textOf(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

async function onPath(name: string): Promise<boolean> {
  const folders = `${process.env.PATH ?? ''}:/usr/sbin:/sbin:/usr/local/sbin`.split(':');
  for (const folder of folders) if (folder !== '' && (await exists(`${folder}/${name}`))) return true;
  return false;
}

export function distributionOf(osRelease: string): { id: string; codename: string } {
  const field = (name: string) => new RegExp(`^${name}="?([^"\\n]*)"?$`, 'm').exec(osRelease)?.[1] ?? '';
  return { id: field('ID'), codename: field('VERSION_CODENAME') };
}

export async function gatherEngineFacts(): Promise<EngineFacts> {
  const [info, context, compose, buildx, audit] = await Promise.all([
    command(['docker', 'info', '--format', '{{.ServerVersion}}']),
    command(['docker', 'context', 'inspect', '--format', '{{.Endpoints.docker.Host}}']),
    command(['docker', 'compose', 'version', '--short']),
    command(['docker', 'buildx', 'version']),
    command(['dpkg', '--audit']),
  ]);
  return {
    platform: process.platform,
    distribution: distributionOf((await textOf('/etc/os-release')) ?? ''),
    root: process.getuid?.() === 0,
    systemd: await exists('/run/systemd/system'),
    endpoint: context.stdout.trim(),
    // A client that reaches no engine prints an empty server version, and may still exit with 0.
    answers: info.code === 0 && info.stdout.trim() !== '',
    refusal: info.stderr.trim(),
    dockerd: await onPath('dockerd'),
    compose: compose.code === 0,
    composeVersion: compose.stdout.trim(),
    buildx: buildx.code === 0,
    buildxVersion: buildx.stdout.trim(),
    runsc: await onPath('runsc'),
    mmdebstrap: await onPath('mmdebstrap'),
    daemonJson: await textOf(daemonJsonPath),
    halfInstalled: audit.code === 0 && audit.stdout.trim() !== '',
  };
}
