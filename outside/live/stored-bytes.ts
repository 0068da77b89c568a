import { randomUUID } from 'node:crypto';
import { bytesQuota, runningQuotas } from '../queue/queue-names.ts';
import { ValkeyConnection } from './valkey-connection.ts';

const takeScript = `
  local quotas, stored, since, begun = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
  local tenant, bytes = ARGV[1], tonumber(ARGV[2])
  local limit = redis.call('HGET', quotas, tenant .. '${bytesQuota}') or redis.call('HGET', quotas, '*${bytesQuota}')
  if not limit or tonumber(limit) >= ${Number.MAX_SAFE_INTEGER} then return { 1, 0, '0', '0', '' } end
  local used = tonumber(redis.call('HGET', stored, tenant) or '0')
  if used + bytes > tonumber(limit) then return { 0, 0, tostring(used), limit, '' } end
  local counted = 0
  for _, key in ipairs({ stored, since }) do
    if redis.call('HEXISTS', key, tenant) == 1 then
      redis.call('HINCRBY', key, tenant, bytes)
      counted = 1
    end
  end
  return { 1, counted, tostring(used), limit, redis.call('HGET', begun, tenant) or '' }`;

/** A measurement that began after they were taken has not counted them: to subtract them would hide others. */
const giveBackScript = `
  if (redis.call('HGET', KEYS[3], ARGV[1]) or '') ~= ARGV[3] then return end
  for _, key in ipairs({ KEYS[1], KEYS[2] }) do
    if redis.call('HEXISTS', key, ARGV[1]) == 1 then redis.call('HINCRBY', key, ARGV[1], -ARGV[2]) end
  end`;

/** What is counted while a tenant is measured may be among what is measured, too: the figure errs on the side of more. */
const measuredScript = `
  local stored, since, measured = KEYS[1], KEYS[2], KEYS[3]
  local added = redis.call('HGET', since, ARGV[1])
  if not added then return 0 end
  redis.call('HSET', stored, ARGV[1], string.format('%.0f', math.max(0, tonumber(ARGV[2]) + tonumber(added))))
  redis.call('HDEL', since, ARGV[1])
  redis.call('HSET', measured, ARGV[1], redis.call('TIME')[1])
  return 1`;

const ageScript = `
  local at = redis.call('HEXISTS', KEYS[1], ARGV[1]) == 1 and redis.call('HGET', KEYS[2], ARGV[1])
  return at and redis.call('TIME')[1] - at or -1`;

export interface GrantedBytes {
  granted: boolean;
  /** By what the count grew: nothing, where the tenant has no quota or was not measured yet. */
  counted: number;
  used: number;
  /** Zero without a quota. */
  limit: number;
  /** The measurement that had begun last when they were taken. */
  measurement: string;
}

/**
 * How many bytes of contents each tenant with a quota of them has in the record. A producer measures that by listing, and
 * what is put since is added by those who put it. Losing it loses nothing: the tenant is measured again.
 */
export class StoredBytes extends ValkeyConnection {
  /** Counts bytes that are about to be stored, unless they exceed the tenant's quota. */
  async take(tenant: string, bytes: number): Promise<GrantedBytes> {
    const keys = [this.key(runningQuotas), this.#stored, this.#since, this.#begun];
    const answer = await this.ask((redis) => redis.eval(takeScript, keys.length, ...keys, tenant, bytes));
    const [granted, counted, used, limit, measurement] = answer as [number, number, string, string, string];
    return { granted: granted === 1, counted: counted * bytes, used: Number(used), limit: Number(limit), measurement };
  }

  /** They were not stored, or had been before. */
  async giveBack(tenant: string, bytes: number, measurement: string): Promise<void> {
    const keys = [this.#stored, this.#since, this.#begun];
    await this.ask((redis) => redis.eval(giveBackScript, keys.length, ...keys, tenant, bytes, measurement));
  }

  async used(tenant: string): Promise<number | undefined> {
    const used = await this.ask((redis) => redis.hget(this.#stored, tenant));
    return used === null ? undefined : Math.max(0, Number(used));
  }

  /** From now on, what is added is counted beside the measurement. */
  async beginMeasuring(tenant: string): Promise<void> {
    await this.ask((redis) =>
      redis.multi().hset(this.#since, tenant, 0).hset(this.#begun, tenant, randomUUID()).exec(),
    );
  }

  async measured(tenant: string, bytes: number): Promise<void> {
    const keys = [this.#stored, this.#since, this.#measured];
    await this.ask((redis) => redis.eval(measuredScript, keys.length, ...keys, tenant, bytes));
  }

  /** How long ago it was measured; undefined if it has to be measured now. */
  async measuredSecondsAgo(tenant: string): Promise<number | undefined> {
    const keys = [this.#stored, this.#measured];
    const age = await this.ask((redis) => redis.eval(ageScript, keys.length, ...keys, tenant));
    return Number(age) < 0 ? undefined : Number(age);
  }

  /** Something may have been removed: the figures stay in force until each tenant is measured again. */
  async measureAgain(): Promise<void> {
    await this.ask((redis) => redis.del(this.#measured));
  }

  /** Those without a quota are not counted any more. */
  async keepOnly(tenants: ReadonlySet<string>): Promise<void> {
    const known = await this.ask((redis) => redis.hkeys(this.#stored));
    const gone = known.filter((tenant) => !tenants.has(tenant));
    if (gone.length > 0)
      await this.send((pipe) => {
        for (const key of [this.#stored, this.#since, this.#begun, this.#measured]) pipe.hdel(key, ...gone);
        return pipe;
      });
  }

  get #stored(): string {
    return this.key('stored');
  }
  get #since(): string {
    return this.key('stored-since');
  }
  get #begun(): string {
    return this.key('stored-begun');
  }
  get #measured(): string {
    return this.key('stored-measured');
  }
}
