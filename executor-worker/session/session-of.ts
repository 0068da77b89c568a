import type { SessionContext } from './execute-session.ts';
import type { RunControl } from '../pull/run-control.ts';
import type { Sealed } from '../stages.ts';
import type { Worker } from '../worker.ts';

/** What a session needs beside what every run does; undefined for a run that is none. */
export function sessionOf(
  { name, live, log }: Worker,
  { spec, ticket, effective }: Sealed,
  { nudges }: RunControl,
): Pick<SessionContext, 'worker' | 'spec' | 'terms' | 'rules' | 'nudges' | 'tellOver'> | undefined {
  const { languages, limits, session } = effective;
  if (!spec.session || !session) return undefined;
  return {
    worker: name,
    spec: ticket.spec,
    terms: spec.session,
    rules: { languages, limits, argv: session.argv, hasWorkspace: spec.workspace !== undefined },
    nudges,
    tellOver: (step) =>
      live.step(ticket.run, step, 'over').catch((error: unknown) => {
        log.info({ run: ticket.run, error }, 'failed to tell that a step is over; those who wait look for themselves');
      }),
  };
}
