import { type Digest, hexOf } from '../digest.ts';
import type { RunId } from '../names.ts';
import type { Outcome } from '../outcomes.ts';
import type { SignerFacts } from './run-statement.ts';
import { attemptBuildType, type AttemptStatement, provenanceV1, statementV1, subjectNames } from './statement.ts';

/** How an attempt ended that did not end its run, as its record has it. */
export interface UncountedAttempt {
  run: RunId;
  tenant: string;
  /** Of the run's spec, as the ticket names it. */
  spec: Digest;
  claim: string;
  attempt: number;
  worker: string;
  startedAt: string;
  finishedAt: string;
  error: { code: string; message: string };
  handedBack: boolean;
  outcome?: Outcome | undefined;
}

/** The statement about such an attempt: `digest` is that of its record, without the member that names this. */
export function attemptStatementOf(ended: UncountedAttempt, digest: Digest, signer: SignerFacts): AttemptStatement {
  const { run, tenant, spec, claim, attempt, worker, startedAt, finishedAt, error, handedBack, outcome } = ended;
  return {
    _type: statementV1,
    subject: [{ name: subjectNames.attempt, digest: { sha256: hexOf(digest) } }],
    predicateType: provenanceV1,
    predicate: {
      buildDefinition: {
        buildType: attemptBuildType,
        externalParameters: { run, tenant, spec },
        internalParameters: { attempt: { number: attempt, claim, worker } },
        resolvedDependencies: [{ name: 'spec.json', digest: { sha256: hexOf(spec) } }],
      },
      runDetails: {
        builder: { id: 'urn:hotcell:builder:none', version: { hotcell: signer.version } },
        metadata: {
          invocationId: `${tenant}/${run}/${attempt}-${claim}`,
          startedOn: startedAt,
          finishedOn: finishedAt,
          hotcell_clock: 'Times are those of the operator’s hosts.',
          hotcell_signer: { role: signer.role, name: signer.name, key: signer.key },
          hotcell_host: signer.host,
          hotcell_outcome: {
            counts: 'This attempt did not end the run.',
            error: { code: error.code, message: error.message },
            handedBack,
            ...(outcome === undefined ? {} : { outcome }),
          },
        },
        byproducts: [],
      },
    },
  };
}
