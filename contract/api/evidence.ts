import { EvidenceBundle } from '../evidence/evidence-bundle.ts';
import { answerSchema, jsonAnswer, tagged } from './route.ts';
import { RunParams } from './runs.ts';

const route = tagged('evidence');

export const evidenceRoutes = {
  getEvidence: route('GET /v1/runs/{run}/evidence', 'reader', 'Show the signed statement about how a run ended', {
    description:
      'A Sigstore bundle: an in-toto statement with SLSA provenance, signed by the process that ended the run. Byte for byte the object that the result names, so its sha256 is `evidence.sha256`.',
    params: RunParams,
    answers: { 200: jsonAnswer('the bundle', answerSchema('EvidenceBundle', EvidenceBundle)) },
    problems: [404, 409],
  }),
};
