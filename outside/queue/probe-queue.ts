import { HotcellError, type Issue, messageOf } from '@hotcell/contract/errors.ts';
import { Redis } from 'ioredis';
import { refuseUnfit } from '../process/unfit.ts';

/** What Valkey says about itself, judged: losing tickets is survivable, losing them silently because it is full is not. */
export function judgeQueue(info: string): Issue[] {
  const issues: Issue[] = [];
  const policy = field(info, 'maxmemory_policy');
  if (policy !== 'noeviction') {
    const message = `is ${policy ?? 'not reported'}, so a full memory drops tickets; set it to noeviction`;
    issues.push({ path: 'maxmemory-policy', message });
  }
  if (field(info, 'aof_enabled') !== '1')
    issues.push({ path: 'appendonly', message: 'is off, so a restart forgets every ticket; set it to yes' });
  return issues;
}

function field(info: string, name: string): string | undefined {
  return new RegExp(`^${name}:(\\S+)`, 'm').exec(info)?.[1];
}

export async function probeQueue(url: string): Promise<void> {
  const redis = new Redis(url, {
    lazyConnect: true,
    maxRetriesPerRequest: 0,
    retryStrategy: () => null,
    connectTimeout: 3_000,
  });
  // Every failure reaches the caller through the call that failed.
  redis.on('error', () => {});
  const service = `The queue at ${new URL(url).host}`;
  const info = await redis
    .connect()
    .then(() => redis.info())
    .catch((cause: unknown) => {
      throw new HotcellError(
        'queue_unavailable',
        `${service} does not answer (${messageOf(cause)}). Check that it runs and that its address is right.`,
        { cause },
      );
    })
    .finally(() => redis.disconnect());
  refuseUnfit('queue_unavailable', service, judgeQueue(info));
}
