import { HotcellError } from './errors.ts';

const hourMs = 3_600_000;
const formats = new Map<string, Intl.DateTimeFormat>();
/** The names of zones are fewer; their spellings are not. */
const mostFormats = 1_000;

function formatOf(zone: string): Intl.DateTimeFormat {
  const known = formats.get(zone);
  if (known) return known;
  let made: Intl.DateTimeFormat;
  try {
    made = new Intl.DateTimeFormat('en-US', { timeZone: zone, timeZoneName: 'longOffset' });
  } catch (cause) {
    throw new HotcellError('invalid', `${zone} is not a time zone. Write one like UTC or Europe/Berlin.`, { cause });
  }
  if (formats.size >= mostFormats) formats.clear();
  formats.set(zone, made);
  return made;
}

/** How far clocks in a zone are ahead of UTC at an instant. */
export function offsetMs(zone: string, at: number): number {
  const [, sign, hours = 0, minutes = 0, seconds = 0] =
    /GMT(?:([+-])(\d\d):(\d\d)(?::(\d\d))?)?$/.exec(formatOf(zone).format(at)) ?? [];
  const ms = ((Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds)) * 1000;
  return sign === '-' ? -ms : ms;
}

/** What the clocks of a zone show on one date. Times that they show are written as milliseconds of UTC. */
export interface ClockDay {
  /** Midnight as the clocks show it. */
  midnight: number;
  /** Before and after the instant at which the clocks are set, if that is near this date. */
  before: number;
  after: number;
  setAt: number;
}

/** Clocks are set at most once within two days: the instant is found by halving. */
export function clockDay(zone: string, midnight: number): ClockDay {
  // No zone is further from UTC than this, so the date lies in between.
  let low = midnight - 14 * hourMs;
  let high = midnight + 36 * hourMs;
  const before = offsetMs(zone, low);
  const after = offsetMs(zone, high);
  if (before === after) return { midnight, before, after, setAt: Number.NEGATIVE_INFINITY };
  while (high - low > 1_000) {
    const middle = Math.floor((low + high) / 2_000) * 1_000;
    if (offsetMs(zone, middle) === before) low = middle;
    else high = middle;
  }
  return { midnight, before, after, setAt: high };
}

/** The instants at which clocks show a time of this date: none, one or two. */
export function instantsOf(day: ClockDay, shown: number): number[] {
  if (day.before === day.after) return [shown - day.after];
  const [first, second] = [shown - day.before, shown - day.after];
  return [...(first < day.setAt ? [first] : []), ...(second >= day.setAt ? [second] : [])];
}

/** Midnight, as the clocks show it, of the date that they show at an instant. */
export function midnightShown(zone: string, at: number): number {
  const shown = at + offsetMs(zone, at);
  return shown - (((shown % 86_400_000) + 86_400_000) % 86_400_000);
}
