export type Runtime = 'runc' | 'gvisor';
type Seen = string | number | boolean;
/** What may be observed: one value, or one of several. */
type Allowed = Seen | readonly Seen[];

/**
 * One attack: a small Python program that tries something and prints what it observed. In a sealed cell every
 * observation must be what `sealed` says; in a deliberately weak container of the same runtime it must be something else,
 * or the attack could not have been seen to succeed.
 */
export interface Attack {
  /** Of the checklist. */
  lines: string;
  tries: string;
  /** Several blocks run one after the other in one cell; the last one's observation counts. */
  code: string | readonly string[];
  sealed: Readonly<Record<string, Allowed | Readonly<Record<Runtime, Allowed>>>>;
  /** Where even the weak container is denied it: by the kernel, or by gVisor. Asserted, and listed in docs/runtimes.md. */
  deniedAnyway?: Partial<Record<Runtime, Readonly<Record<string, Allowed>>>>;
}

export type Observation = Readonly<Record<string, Seen>>;

export function allowedFor(allowed: Attack['sealed'][string], runtime: Runtime): readonly Seen[] {
  const one = typeof allowed === 'object' && 'runc' in allowed ? allowed[runtime] : allowed;
  return Array.isArray(one) ? one : [one as Seen];
}

export const python = String.raw;
