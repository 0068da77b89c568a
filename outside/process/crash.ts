import { writeSync } from 'node:fs';

let armed: { point: string; how: 'kill' | 'stop' } | undefined;

/**
 * Arm one named step when the process starts: at `POINT` the process dies by SIGKILL, at `POINT:stop` SIGSTOP suspends
 * it. With this, tests prove that a death at any step loses nothing and repeats nothing.
 */
export function armCrashPoint(setting: string | undefined): void {
  if (!setting) return;
  const [point = '', how = 'kill'] = setting.split(':');
  if (how !== 'kill' && how !== 'stop')
    throw new Error(`HOTCELL_CRASH_AT ends with ${how}. It must end with kill or stop.`);
  armed = { point, how };
}

/** The same setting, for the threads of this process. */
export function armedCrashPoint(): string | undefined {
  return armed && `${armed.point}:${armed.how}`;
}

/** A named step. It costs one comparison when nothing is armed. */
export function crashPoint(name: string): void {
  if (armed === undefined || armed.point !== name) return;
  const { how } = armed;
  armed = undefined;
  // By this line the tests count which points were reached: it must be written before the process is gone.
  writeSync(2, `{"crashPoint":"${name}","how":"${how}"}\n`);
  process.kill(process.pid, how === 'kill' ? 'SIGKILL' : 'SIGSTOP');
}
