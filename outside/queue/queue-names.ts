export interface QueueSettings {
  url: string;
  installation: string;
}

export const prefix = 'tickets';

export function nameOf({ installation }: QueueSettings, queue: string): string {
  return `hotcell-${installation}-${queue}`;
}

/**
 * The keys by which tickets are arranged. Of the queue: the round, the tenants' last turns, the prefix of their lines,
 * which tenants have one, which of them wait for their quota, and the order of arrival. Of the installation: the prefix
 * of the tenants' running runs, and how many each may have.
 */
export function arrangeKeys({ installation }: QueueSettings, queue: string): string[] {
  const ofQueue = ['round', 'turns', 'line', 'lines', 'held', 'order'].map((key) =>
    key === 'line' ? `line:${queue}:` : `${key}:${queue}`,
  );
  return [...ofQueue, runningPrefix, runningQuotas].map((key) => `hotcell:${installation}:${key}`);
}

export const runningPrefix = 'running:';
/** Which pull has each of a tenant's running runs, until when at least, and how many CPUs: no tenant's name begins so. */
export const holdersPrefix = `${runningPrefix}@`;
export const runningQuotas = 'quotas';
/** Behind a tenant's name: its quota of CPUs. */
export const cpuQuota = '/cpus';
/** And of stored bytes. */
export const bytesQuota = '/bytes';

export const retryStrategy = (times: number) => Math.min(50 * 2 ** Math.min(times, 6), 1_000);
