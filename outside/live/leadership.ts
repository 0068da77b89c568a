import { ValkeyConnection } from './valkey-connection.ts';

/** One process of many does a task for all. A leader that was away may find that another has led meanwhile. */
export class Leadership extends ValkeyConnection {
  /** True while `who` leads: no other does, until it resigns or has not led again for so long. */
  async lead(task: string, who: string, forMs: number): Promise<boolean> {
    const script = `
      local leader = redis.call('GET', KEYS[1])
      if leader and leader ~= ARGV[1] then return 0 end
      redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
      return 1`;
    return this.ask(async (redis) => (await redis.eval(script, 1, this.key('leader', task), who, forMs)) === 1);
  }

  async resign(task: string, who: string): Promise<void> {
    const script = `if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('DEL', KEYS[1]) end`;
    await this.ask((redis) => redis.eval(script, 1, this.key('leader', task), who));
  }
}
