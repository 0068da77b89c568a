import { relative } from 'node:path';
import { run } from 'node:test';
import { Count, explain } from './count.ts';

export interface Lane {
  name: string;
  files: readonly string[];
  /** How many files run at once in this lane. */
  concurrency: number;
}

/** A file that takes longer than this hangs. The slowest one takes a quarter of it on two free cores. */
const fileTimeoutMs = 25 * 60_000;
/** The bound for all files; they take a quarter of it on two free cores. */
const allTimeoutMs = 90 * 60_000;
/** How long a stopped file has to end. */
const stopMs = 15_000;

/** Runs lanes side by side; each file is a process of its own. */
export async function runLanes(root: string, lanes: readonly Lane[]): Promise<Count> {
  const tell = new Teller(root);
  const late = AbortSignal.timeout(allTimeoutMs);
  await Promise.all(lanes.map((lane) => runLane(lane, tell, late)));
  return tell.count;
}

async function runLane(lane: Lane, tell: Teller, late: AbortSignal): Promise<void> {
  const waiting = [...lane.files];
  const one = async () => {
    for (let file = waiting.shift(); file !== undefined; file = waiting.shift()) await runFile(file, tell, late);
  };
  await Promise.all(Array.from({ length: lane.concurrency }, one));
}

/** A file must also end by itself: one that passes and then hangs has left something open. */
function runFile(file: string, tell: Teller, late: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const signal = AbortSignal.any([late, AbortSignal.timeout(fileTimeoutMs)]);
    if (signal.aborted) {
      tell.hangs(file, 'no time was left for this file');
      return resolve();
    }
    const stream = run({ files: [file], concurrency: 1, cwd: tell.root, signal });
    const onLate = () => {
      tell.hangs(file, 'stopped: the file did not end by itself');
      setTimeout(resolve, stopMs);
    };
    signal.addEventListener('abort', onLate);
    tell.listenTo(stream);
    stream.on('end', () => {
      signal.removeEventListener('abort', onLate);
      resolve();
    });
    stream.on('error', reject);
    stream.resume();
  });
}

/** Prints events as they happen, and counts them. */
class Teller {
  readonly root: string;
  readonly count: Count;
  readonly #begun = performance.now();
  readonly #told = new Set<string | undefined>();

  constructor(root: string) {
    this.root = root;
    this.count = new Count(root);
  }

  listenTo(stream: ReturnType<typeof run>): void {
    stream.on('test:pass', (event) => {
      this.count.pass(event);
      if (event.details.type !== 'suite') this.#say(event.skip === undefined ? 'ok  ' : 'SKIP', event.file, event.name);
    });
    stream.on('test:fail', (event) => {
      this.count.fail(event);
      this.#say('FAIL', event.file, event.name);
      // A failed hook fails every test of its file with the same error: it is printed once here.
      if (!this.#told.has(event.file)) process.stdout.write(`${explain(event.details.error)}\n`);
      this.#told.add(event.file);
    });
    // Only the tests' own diagnostics: the runner's counts have no file.
    stream.on('test:diagnostic', (event) => {
      if (event.file !== undefined) process.stdout.write(`           ${event.message}\n`);
    });
    stream.on('test:stderr', (event) => process.stderr.write(event.message));
  }

  hangs(file: string, how: string): void {
    this.count.failures.push({ file: relative(this.root, file), name: 'comes to its end', how });
    this.#say('FAIL', file, how);
  }

  #say(mark: string, file: string | undefined, text: string): void {
    const at = ((performance.now() - this.#begun) / 1000).toFixed(0).padStart(4);
    process.stdout.write(`${at} s ${mark} ${file ? `${relative(this.root, file)}: ` : ''}${text}\n`);
  }
}
