import { HotcellError } from '@hotcell/contract/errors.ts';
import { claimNext } from '@hotcell/record/claim.ts';
import { isCommitted } from '@hotcell/record/commit.ts';
import type { Claimed, Judged } from '../stages.ts';
import type { Worker } from '../worker.ts';
import type { RunControl } from './run-control.ts';

/** `again`: the run's history was read. A ticket that comes for the first time has none. */
export async function claim({ store, name }: Worker, judged: Judged, again: boolean): Promise<Claimed> {
  const claimed = await claimNext(store, judged.ticket, name, again ? judged.history : undefined);
  return { ...judged, at: 'claimed', ...claimed };
}

export async function begin(worker: Worker, claimed: Claimed, control: RunControl): Promise<void> {
  const {
    ticket,
    claim: { attempt },
  } = claimed;
  control.claimed(attempt);
  // After the claim, and even for the first one: the notary removes the claims of a finished run, and a Valkey that
  // forgot its last seconds gives out the run's ticket as if it were new.
  if (await isCommitted(worker.store, ticket.tenant, ticket.run))
    throw new HotcellError('lost_claim', 'Another attempt finished the run.');
  control.goOn();
  await control.tell('staging');
}
