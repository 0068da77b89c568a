/**
 * Loaded into one of our processes by `--import`: its time of day is wrong by WRONG_CLOCK_MS from the start, or with
 * WRONG_CLOCK_LATER from SIGUSR2 on. Monotonic clocks are unchanged, as on a machine whose clock was set.
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
