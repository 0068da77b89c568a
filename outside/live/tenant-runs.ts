import type { RunId } from '@hotcell/contract/names.ts';
import { bytesQuota, cpuQuota, holdersPrefix, runningPrefix, runningQuotas } from '../queue/queue-names.ts';
import { listSeconds, ValkeyConnection } from './valkey-connection.ts';

/** Recovery looks at every open run far more often than this. What it has not seen for so long is not open any more. */
const seenMs = 15 * 60_000;

const openScript = `
  local open, running, run, most, seen = KEYS[1], KEYS[2], ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
  local clock = redis.call('TIME')
  local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
  redis.call('ZREMRANGEBYSCORE', open, '-inf', now - seen)
  local waiting = math.max(0, redis.call('ZCARD', open) - redis.call('ZCOUNT', running, now, '+inf'))
  if run ~= '' and (redis.call('ZSCORE', open, run) or waiting < most) then
    redis.call('ZADD', open, now, run)
    redis.call('PEXPIRE', open, seen)
    return { 1, waiting }
  end
  return { 0, waiting }`;

const useScript = `
  local clock = redis.call('TIME')
  local running = redis.call('ZRANGEBYSCORE', KEYS[1], clock[1] * 1000 + math.floor(clock[2] / 1000), '+inf')
  local cpus = 0
  for _, run in ipairs(running) do
    local held = string.match(redis.call('HGET', KEYS[2], run) or '', '@([%d.e-]+)$')
    cpus = cpus + (tonumber(held) or 1)
  end
  return { #running, tostring(cpus) }`;

interface Allowed {
  runs: number;
  cpus: number;
  bytes?: number;
}

export interface TenantUse {
  waiting: number;
  running: number;
  cpus: number;
}

/**
 * How many runs each tenant has open, for its quotas: counted when they are accepted, by all producers together, and
 * counted again from the open markers by recovery, so that nothing is lost with Valkey but the count of a few minutes.
 */
export class TenantRuns extends ValkeyConnection {
  /** Counts a run as open, unless so many wait already. False: it was not counted. */
  async open(tenant: string, run: RunId, most: number): Promise<Pick<TenantUse, 'waiting'> & { counted: boolean }> {
    return await this.#ask(tenant, run, Math.min(most, Number.MAX_SAFE_INTEGER));
  }

  async use(tenant: string): Promise<TenantUse> {
    const keys = [this.key(`${runningPrefix}${tenant}`), this.key(`${holdersPrefix}${tenant}`)];
    const [{ waiting }, answer] = await Promise.all([
      this.#ask(tenant, '', 0),
      this.ask((redis) => redis.eval(useScript, keys.length, ...keys)),
    ]);
    const [running, cpus] = answer as [number, string];
    return { waiting, running, cpus: Number(Number(cpus).toFixed(2)) };
  }

  /** It was not accepted in the end. */
  async forget(tenant: string, run: RunId): Promise<void> {
    await this.ask((redis) => redis.zrem(this.#openOf(tenant), run));
  }

  /** These are open now, by the clock that the count is read with: producers' clocks differ. */
  async saw(runs: ReadonlyMap<RunId, string>): Promise<void> {
    if (runs.size === 0) return;
    const [seconds, micros] = await this.ask((redis) => redis.time());
    const now = Number(seconds) * 1000 + Math.floor(Number(micros) / 1000);
    const byTenant = Map.groupBy(runs, ([, tenant]) => tenant);
    await this.send((pipe) => {
      for (const [tenant, those] of byTenant) {
        pipe.zadd(this.#openOf(tenant), ...those.flatMap(([run]) => [now, run]));
        pipe.pexpire(this.#openOf(tenant), seenMs);
      }
      return pipe;
    });
  }

  /**
   * How many runs of each tenant, and CPUs in them, workers may have at once, and how many bytes it may have stored; `*`
   * stands for every other tenant.
   */
  async allow(most: ReadonlyMap<string, Allowed>): Promise<void> {
    const key = this.key(runningQuotas);
    const values = [...most].flatMap(([tenant, { runs, cpus, bytes = Number.POSITIVE_INFINITY }]) =>
      Object.entries({ '': runs, [cpuQuota]: cpus, [bytesQuota]: bytes }).map(
        ([what, limit]) => [`${tenant}${what}`, Math.min(limit, Number.MAX_SAFE_INTEGER)] as const,
      ),
    );
    // At once: between the two, no tenant is without its quota.
    await this.ask((redis) =>
      redis.multi().del(key).hset(key, Object.fromEntries(values)).expire(key, listSeconds).exec(),
    );
  }

  async #ask(tenant: string, run: string, most: number): Promise<Pick<TenantUse, 'waiting'> & { counted: boolean }> {
    const keys = [this.#openOf(tenant), this.key(`${runningPrefix}${tenant}`)];
    const answer = await this.ask((redis) => redis.eval(openScript, keys.length, ...keys, run, most, seenMs));
    const [counted = 0, waiting = 0] = answer as number[];
    return { counted: counted === 1, waiting };
  }

  #openOf(tenant: string): string {
    return this.key('open', tenant);
  }
}
