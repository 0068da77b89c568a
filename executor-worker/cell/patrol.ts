import type { Logger } from '@hotcell/outside/process/log.ts';

export interface Watched {
  log: Logger;
  container: string;
  /** How long it has said nothing although we listen. */
  silentMs: () => number;
  /** When the job has to be over, all graces counted; undefined until it was handed over. */
  overAt: () => number | undefined;
  /** `docker kill`. */
  kill: () => Promise<unknown>;
  /** Listen no longer. */
  close: () => void;
}

export interface Patience {
  /** How often it is looked after. */
  lookMs: number;
  /** To take a job that is handed over. */
  handOverMs: number;
  /** Without a word when it should be over: on a busy machine, init takes seconds to kill and to empty. */
  silenceMs: number;
  /** From the engine being asked to kill until we listen no longer. */
  killMs: number;
}

export interface Patrol extends Disposable {
  readonly gaveUp: boolean;
}

export const usualPatience: Patience = { lookMs: 1_000, handOverMs: 120_000, silenceMs: 10_000, killMs: 20_000 };

/**
 * Init ends its job, and itself, in time. A runtime that is wedged ends nothing and says nothing: then the engine is asked
 * to kill, and when that is of no use either, nobody listens any longer. It costs the attempt, not the worker. What is
 * counted are our looks, not the clock: who was asleep himself has heard nothing either.
 */
export function patrol(watched: Watched, patience: Patience): Patrol {
  const { lookMs } = patience;
  let gaveUp = false;
  let waited = 0;
  let silent = 0;
  let sinceKill: number | undefined;
  const look = () => {
    waited += lookMs;
    silent = watched.silentMs() < lookMs ? 0 : silent + lookMs;
    if (sinceKill !== undefined) {
      sinceKill += lookMs;
      if (sinceKill < patience.killMs) return;
      clearInterval(timer);
      gaveUp = true;
      watched.log.error({ container: watched.container }, 'a cell neither ends nor speaks: nobody listens any longer');
      return watched.close();
    }
    const overAt = watched.overAt();
    const isDone =
      overAt === undefined ? waited >= patience.handOverMs : performance.now() > overAt && silent >= patience.silenceMs;
    if (!isDone) return;
    sinceKill = 0;
    watched.log.warn({ container: watched.container }, 'init did not end its job: the engine is asked to kill it');
    watched.kill().catch((error: unknown) => {
      watched.log.error({ container: watched.container, err: error }, 'the engine did not kill a cell');
    });
  };
  const timer = setInterval(look, lookMs);
  return {
    get gaveUp() {
      return gaveUp;
    },
    [Symbol.dispose]: () => clearInterval(timer),
  };
}
