export type Runtime = 'runc' | 'gvisor';
type Seen = string | number | boolean;
/** The expected value, or one of several. */
type Allowed = Seen | readonly Seen[];

/**
 * One attack: a small Python program that tries something and prints its observations. In a sealed cell each must be as
 * `sealed` says. In a weak container on the same runtime each must differ, or the attack proves nothing.
 */
export interface Attack {
  /** The lines of the checklist. */
  lines: string;
  tries: string;
  /** Blocks run in order in one cell; the last one's observations count. */
  code: string | readonly string[];
  sealed: Readonly<Record<string, Allowed | Readonly<Record<Runtime, Allowed>>>>;
  /** What the kernel or gVisor denies even to the weak container. Asserted, and listed in docs/runtimes.md. */
  deniedAnyway?: Partial<Record<Runtime, Readonly<Record<string, Allowed>>>>;
}

export type Observation = Readonly<Record<string, Seen>>;

export function allowedFor(allowed: Attack['sealed'][string], runtime: Runtime): readonly Seen[] {
  const one = typeof allowed === 'object' && 'runc' in allowed ? allowed[runtime] : allowed;
  return Array.isArray(one) ? one : [one as Seen];
}

export const python = String.raw;
