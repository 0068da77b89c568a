import type { Batch, BatchItemView } from '@hotcell/contract/api/batches.ts';
import { pairs } from './columns.ts';
import { inCommands } from './in-commands.ts';

export const batchHeads = ['BATCH', 'NAME', 'STATE', 'DONE', 'FAILED', 'RUNNING', 'WAITING', 'CREATED'];

/** Those that failed, or were cancelled or skipped. */
const unsuccessful = ({ counts }: Batch) => counts.failed + counts.cancelled + counts.skipped;

export function batchRow(batch: Batch): string[] {
  const { name, state, counts, running, waiting, items, createdAt } = batch;
  const done = `${counts.succeeded}/${items ?? '?'}`;
  return [batch.batch, name ?? '-', state, done, `${unsuccessful(batch)}`, `${running}`, `${waiting}`, createdAt];
}

export const itemHeads = ['ITEM', 'STATE', 'OUTCOME', 'RUN', 'REASON'];

export function itemRow({ item, state, outcome, run, reason }: BatchItemView): string[] {
  return [String(item), state, outcome ?? '-', run ?? '-', inCommands(reason)];
}

export function batchText(batch: Batch): string {
  const { counts, rules, published, ratePerSecond, estimate } = batch;
  const rate = ratePerSecond === null ? undefined : `${ratePerSecond.toFixed(1)} items a second`;
  const failures = `${counts.failed} failed, ${counts.cancelled} cancelled, ${counts.skipped} skipped`;
  return pairs([
    ['batch', batch.batch],
    ['name', batch.name],
    ['state', `${batch.state}: ${inCommands(batch.reason)}`],
    ['items', batch.items === null ? 'being written down' : String(batch.items)],
    ['done', `${counts.succeeded} succeeded, ${failures}`],
    ['open', `${batch.running} running, ${batch.waiting} waiting`],
    ['held up', batch.problem && inCommands(batch.problem.message)],
    ['rate', rate],
    ['estimate', estimate],
    ['rules', `${rules.parallel} at once, on failure ${rules.onFailure}`],
    ['round', batch.round > 0 ? `rerun ${batch.round}` : undefined],
    ['over', batch.over],
    ['policy', `${batch.policy.name} ${batch.policy.digest}`],
    ['image', `${batch.image.ref} ${batch.image.digest}`],
    ['created', `${batch.createdAt} by ${batch.author.key}`],
    ['ended', batch.endedAt],
    ['manifest', batch.manifest?.sha256],
    ['evidence', batch.evidence?.sha256],
    ['published', published && `${published.name} ${published.snapshot ?? published.problem ?? ''}`],
  ]);
}
