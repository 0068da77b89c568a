import { diskUse } from '@hotcell/contract/disk-growth.ts';
import { HotcellError } from '@hotcell/contract/errors.ts';
import { keptSamples } from '@hotcell/record/disk-samples.ts';
import type { Producer } from '../producer.ts';
import type { Handlers } from './register-routes.ts';

export function diskHandlers({ store, live }: Producer) {
  return {
    async showDisk() {
      const [samples, valkey] = await Promise.all([
        keptSamples(store),
        live.size().catch((error: unknown) => {
          // The buckets are known without Valkey.
          if (error instanceof HotcellError && error.code === 'queue_unavailable') return null;
          throw error;
        }),
      ]);
      return { ...diskUse(samples), valkey };
    },
  } satisfies Partial<Handlers>;
}
