export interface QueueSettings {
  url: string;
  installation: string;
}

export const prefix = 'tickets';

export function nameOf({ installation }: QueueSettings, queue: string): string {
  return `hotcell-${installation}-${queue}`;
}

/** The keys by which tickets are arranged: the round, the tenants' last turns, and the prefix of the tenants' lanes. */
export function turnKeys({ installation }: QueueSettings, queue: string): string[] {
  return [`round:${queue}`, `turns:${queue}`, `lane:${queue}:`].map((key) => `hotcell:${installation}:${key}`);
}

export const retryStrategy = (times: number) => Math.min(50 * 2 ** Math.min(times, 6), 1_000);
