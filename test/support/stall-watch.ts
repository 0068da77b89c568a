/**
 * Loaded into a process under test (`node --import`): on SIGUSR2 it says how long its event loop stood still at most
 * since the last time, in microseconds of the main thread's own CPU.
 */
import { cpuMicros } from './stall.ts';

let [before, longest] = [cpuMicros(), 0];
setInterval(() => {
  const now = cpuMicros();
  longest = Math.max(longest, now - before);
  before = now;
}, 1).unref();
process.on('SIGUSR2', () => {
  process.stderr.write(`{"stalled":${longest}}\n`);
  longest = 0;
});
