import { composeRows, expectedServices } from './services/compose.ts';
import { findInstallation, type Installation } from './settings/installation.ts';

interface ServiceStatus {
  name: string;
  state: string;
  health: string;
  port?: number;
}

export interface InstallationStatus {
  installation: Installation;
  services: ServiceStatus[];
}

/** The state of this installation's services in the engine, including services that were never started. */
export async function installationStatus(env: NodeJS.ProcessEnv): Promise<InstallationStatus | undefined> {
  const installation = await findInstallation(env);
  if (!installation) return undefined;
  const rows = await composeRows(installation);
  const { api, s3, redis } = installation.ports;
  const ports: Readonly<Record<string, number>> = { producer: api, store: s3, valkey: redis };
  const services = expectedServices(installation).map((name) => {
    const row = rows.find(({ Service }) => Service === name);
    const port = ports[name];
    return { name, state: row?.State ?? 'absent', health: row?.Health ?? '', ...(port ? { port } : {}) };
  });
  return { installation, services };
}
