import type { ServiceName } from './compose.ts';

const mib = 1024 ** 2;

/** The `mem_limit` of each service in docker-compose.yml. */
export const serviceMemory: Readonly<Record<ServiceName, number>> = {
  valkey: 768 * mib,
  store: 1024 * mib,
  producer: 1024 * mib,
  keeper: 512 * mib,
  'executor-worker': 2048 * mib,
  notary: 512 * mib,
};
/** Dockerd and containerd, which grow with the containers they know, and the kernel. */
const engineMemory = 1024 * mib;

/**
 * What is left when every service on the machine takes all it may: a machine that runs out of memory costs attempts. On a
 * small machine cells get half of it all the same: there few run at once, and the services stay small.
 */
export function memoryForCells(machineBytes: number, services: readonly ServiceName[]): number {
  const others = services.reduce((sum, name) => sum + serviceMemory[name], engineMemory);
  return Math.max(1024 * mib, Math.floor(machineBytes / 2), machineBytes - others);
}
