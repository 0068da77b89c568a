import { readBundle } from '@hotcell/contract/evidence/evidence-bundle.ts';
import { sha256 } from '@hotcell/contract/digest.ts';
import { HotcellError } from '@hotcell/contract/errors.ts';
import type { Producer } from '../producer.ts';
import { runIdOf, viewOf } from '../view-run.ts';
import type { Handlers } from './register-routes.ts';

export function evidenceHandlers(producer: Producer) {
  return {
    async getEvidence({ caller: { tenant }, params }) {
      const view = await viewOf(producer, tenant, runIdOf(params.run));
      if (view.status !== 'finished')
        throw new HotcellError('conflict', `Run ${view.run} is ${view.status}. It has evidence when it has finished.`);
      if (!view.evidence)
        throw new HotcellError('not_found', `Run ${view.run} was finished by a version that signed nothing.`);
      const { bundle, sha256: digest } = view.evidence;
      const bytes = await producer.bulk.getBytes(producer.bulk.record, bundle);
      const damaged = (why: string) => new HotcellError('record_damaged', `The evidence of run ${view.run} ${why}.`);
      if (!bytes) throw damaged('is missing in the store');
      if (sha256(bytes) !== digest) throw damaged('has other bytes than its result names');
      return readBundle(bytes.toString('utf8'));
    },
  } satisfies Partial<Handlers>;
}
