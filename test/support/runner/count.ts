import { relative } from 'node:path';

export interface Failure {
  file: string;
  name: string;
  how: string;
}

/** Counts the runner's events over all test processes. */
export class Count {
  passed = 0;
  skipped = 0;
  readonly failures: Failure[] = [];
  readonly #root: string;
  readonly seconds = new Map<string, number>();

  constructor(root: string) {
    this.#root = root;
  }

  pass(event: {
    name: string;
    file?: string | undefined;
    skip?: string | boolean | undefined;
    todo?: string | boolean | undefined;
    details: { type?: string | undefined; duration_ms: number };
  }): void {
    if (event.details.type === 'suite') return;
    // A todo test has shown nothing: it counts as skipped, and skipped tests fail the run.
    if (event.skip !== undefined || event.todo !== undefined) this.skipped++;
    else this.passed++;
    this.#time(event);
  }

  fail(event: {
    name: string;
    file?: string | undefined;
    details: { type?: string | undefined; duration_ms: number; error: unknown };
  }): void {
    this.#time(event);
    const error = event.details.error;
    // A suite that failed because of its tests has been counted with them.
    if (event.details.type === 'suite' && isOfChildren(error)) return;
    this.failures.push({ file: this.#name(event.file), name: event.name, how: explain(error) });
  }

  get failed(): number {
    return this.failures.length;
  }

  /** The last line of the output, for tools to read. */
  line(): string {
    return `${this.passed} passed, ${this.failed} failed, ${this.skipped} skipped`;
  }

  #time(event: { file?: string | undefined; details: { duration_ms: number } }): void {
    const file = this.#name(event.file);
    this.seconds.set(file, (this.seconds.get(file) ?? 0) + event.details.duration_ms / 1000);
  }

  #name(file: string | undefined): string {
    return file ? relative(this.#root, file) : '(no file)';
  }
}

function isOfChildren(error: unknown): boolean {
  return error instanceof Error && 'failureType' in error && error.failureType === 'subtestsFailed';
}

/** An error with its chain of causes. */
export function explain(error: unknown): string {
  const lines: string[] = [];
  for (let e: unknown = error, depth = 0; e !== undefined && e !== null && depth < 6; depth++) {
    lines.push(e instanceof Error ? (e.stack ?? e.message) : typeof e === 'string' ? e : JSON.stringify(e));
    e = e instanceof Error ? e.cause : undefined;
  }
  return lines.join('\ncaused by: ');
}
