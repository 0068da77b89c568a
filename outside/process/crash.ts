import { writeSync } from 'node:fs';

let armed: { point: string; how: 'kill' | 'stop' } | undefined;

/**
 * Arm one named step, by environment, once when the process starts: `POINT` dies there by SIGKILL, `POINT:stop` is put
 * to sleep by SIGSTOP. Tests prove with it that a death at any step loses and repeats nothing.
 */
export function armCrashPoint(setting: string | undefined): void {
  if (!setting) return;
  const [point = '', how = 'kill'] = setting.split(':');
  if (how !== 'kill' && how !== 'stop') throw new Error(`HOTCELL_CRASH_AT: ${how} is neither kill nor stop`);
  armed = { point, how };
}

/** As it is armed here, for the threads of this process. */
export function armedCrashPoint(): string | undefined {
  return armed && `${armed.point}:${armed.how}`;
}

/** A named step. It costs one comparison when nothing is armed. */
export function crashPoint(name: string): void {
  if (armed === undefined || armed.point !== name) return;
  const { how } = armed;
  armed = undefined;
  // The harness counts which points were reached by this line, which has to be out before the process is gone.
  writeSync(2, `{"crashPoint":"${name}","how":"${how}"}\n`);
  process.kill(process.pid, how === 'kill' ? 'SIGKILL' : 'SIGSTOP');
}
