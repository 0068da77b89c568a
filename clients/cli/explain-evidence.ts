import type { RunVerdict } from '@hotcell/contract/evidence/verdict.ts';

import { visibleLine } from './visible.ts';

/** How far a reader can check an answer without believing anybody. */
type Standing = 're-checkable' | "operator's assertion" | 'not known';

interface Answer {
  question: string;
  standing: Standing;
  answer: string;
}

/** The six questions of OWASP's cheat sheet on execution evidence, answered for one run. */
export function answersFor({ verdict, signedBy, isolation, retention }: RunVerdict): Answer[] {
  const isSigned = signedBy !== undefined && verdict === 'VALID';
  const who = signedBy ? `${signedBy.role} ${signedBy.name}` : 'no known signer';
  return [
    {
      question: 'Who could have altered it?',
      standing: isSigned ? 're-checkable' : 'not known',
      answer: `It was signed by ${who}. Unnoticed, only a holder of that key or of the root's key could have altered it. ${retention ? `Object Lock was asked for: ${retention.days} days of ${retention.mode}.` : 'No Object Lock was asked for: one who may delete versions can remove all of it.'}`,
    },
    {
      question: 'Was it watched or reconstructed?',
      standing: "operator's assertion",
      answer: `Watched: ${who} signed what it did itself, before the result was committed.${isolation === undefined ? ' No code was executed.' : ` ${isolation}`}`,
    },
    {
      question: 'Is the subject named exactly?',
      standing: isSigned ? 're-checkable' : 'not known',
      answer:
        'By sha256: result, outputs, log, spec, code, files, params, inputs, policy, image, package list, seccomp profiles, init. The image and init are not in the record themselves.',
    },
    {
      question: 'Would an omission show?',
      standing: 'not known',
      answer:
        'A field that is left out of the statement shows. A run that is removed as a whole shows only to one who holds its receipt: there is no ledger yet.',
    },
    {
      question: 'What if recording failed?',
      standing: 're-checkable',
      answer:
        'Then there is no result: the evidence is put before it. An accepted run without a result is OPEN after its deadline.',
    },
    {
      question: 'Could a verifier forge it?',
      standing: 're-checkable',
      answer: "No: a verifier needs the root's public key alone. The operator, who has the root's key, could.",
    },
  ];
}

/** What stays unproven in any case. */
const unproven =
  'Not proven: when it happened (times are those of the operator’s hosts), that the posture is true on a host whose kernel lies, that no run is missing, and that the code does what it should. See docs/evidence.md.';

export function explained(verdict: RunVerdict): string {
  const answers = answersFor(verdict).map(
    ({ question, standing, answer }) => `  ${question} [${standing}]\n    ${visibleLine(answer)}\n`,
  );
  return `${answers.join('')}  ${unproven}\n`;
}
