/**
 * Loaded before a process of ours (`--import`): its clock is wrong by WRONG_CLOCK_MS from the start, or from SIGUSR2 on
 * when WRONG_CLOCK_LATER says so. Only the time of day: what measures how long something takes goes on as it is, as on a
 * machine whose clock was set.
 */
const RealDate = Date;
let wrongByMs = 0;
const set = () => {
  wrongByMs = Number(process.env['WRONG_CLOCK_MS'] ?? 0);
  process.stderr.write('the clock is wrong\n');
};
if (process.env['WRONG_CLOCK_LATER']) {
  process.once('SIGUSR2', set);
  process.stderr.write('the clock is right for now\n');
} else set();

const now = () => RealDate.now() + wrongByMs;
globalThis.Date = new Proxy(RealDate, {
  construct: (target, given: unknown[], as) => Reflect.construct(target, given.length === 0 ? [now()] : given, as),
  apply: () => new RealDate(now()).toString(),
  get: (target, name, receiver) => (name === 'now' ? now : Reflect.get(target, name, receiver)),
});
