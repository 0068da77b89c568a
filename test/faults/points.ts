/** The crash points of accepting, running and clearing up, in order. */
export const points = {
  producer: ['accept.marked', 'accept.spec', 'accept.open', 'accept.queued'],
  cancel: ['cancel.marked'],
  recovery: ['reconcile.found', 'reconcile.queued'],
  worker: [
    'worker.ticket',
    'worker.spec',
    'worker.judged',
    'worker.claimed',
    'worker.staged',
    'worker.sealed',
    'worker.executed',
    'commit.signed',
    'commit.evidence',
    'commit.result',
    'commit.published',
    'commit.done',
    'commit.told',
    'worker.acked',
  ],
  /** Of a worker whose attempt does not end the run. */
  attempt: ['attempt.evidence'],
  /** Of any process that ends a run, between each two of its writes. */
  ending: ['commit.signed', 'commit.evidence', 'commit.result', 'commit.published', 'commit.done', 'commit.told'],
  collector: ['gc-records-removed', 'gc-manifests-removed', 'gc-contents-removed'],
  notary: ['notary.verified', 'notary.cleared', 'notary.done'],
} as const;
