import type { Logger } from '@hotcell/outside/process/log.ts';

export interface Watched {
  log: Logger;
  container: string;
  /** How long it has sent nothing although we listen. */
  silentMs: () => number;
  /** When the job has to be over, grace included; undefined until it was handed over. */
  overAt: () => number | undefined;
  /** `docker kill`. */
  kill: () => Promise<unknown>;
  /** Stop listening. */
  close: () => void;
}

export interface PatrolTimes {
  /** The interval of the checks. */
  lookMs: number;
  /** For the cell to take the job. */
  handOverMs: number;
  /** Silence once it should be over: init itself waits up to 20 s for processes that the kernel does not end. */
  silenceMs: number;
  /** From asking the engine to kill until we stop listening. */
  killMs: number;
}

export interface Patrol extends Disposable {
  readonly gaveUp: boolean;
}

export const usualPatrolTimes: PatrolTimes = { lookMs: 1_000, handOverMs: 120_000, silenceMs: 25_000, killMs: 20_000 };

/**
 * Init ends its job and itself in time. A hung runtime does not: then the engine is asked to kill the cell, and if that
 * does not help either, we stop listening. It costs the attempt, not the worker. Silence is counted in checks, not by the
 * clock: a suspended worker has heard nothing either.
 */
export function patrol(watched: Watched, times: PatrolTimes): Patrol {
  const { lookMs } = times;
  let gaveUp = false;
  let waited = 0;
  let silent = 0;
  let sinceKill: number | undefined;
  const look = () => {
    waited += lookMs;
    const overAt = watched.overAt();
    const isOver = overAt !== undefined && performance.now() > overAt;
    // A job may be silent for as long as it runs: only what comes after its time says anything of init.
    silent = isOver && watched.silentMs() >= lookMs ? silent + lookMs : 0;
    if (sinceKill !== undefined) {
      sinceKill += lookMs;
      if (sinceKill < times.killMs) return;
      clearInterval(timer);
      gaveUp = true;
      watched.log.error({ container: watched.container }, 'a cell neither ends nor sends anything; giving it up');
      return watched.close();
    }
    const isDone = overAt === undefined ? waited >= times.handOverMs : silent >= times.silenceMs;
    if (!isDone) return;
    sinceKill = 0;
    watched.log.warn(
      { container: watched.container },
      'init did not end its job in time; asking the engine to kill the cell',
    );
    watched.kill().catch((error: unknown) => {
      watched.log.error({ container: watched.container, err: error }, 'the engine failed to kill a cell');
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
