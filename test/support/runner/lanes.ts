import { relative } from 'node:path';
import { run } from 'node:test';
import { Count, explain } from './count.ts';

export interface Lane {
  name: string;
  files: readonly string[];
  /** How many files run at once in this lane. */
  concurrency: number;
}

/** A file that takes longer than this hangs; nothing of ours takes a third of it, but on a very busy machine. */
const fileTimeoutMs = 12 * 60_000;
/** All of it takes a third of this: whoever waits for the end hears what did not come to one. */
const allTimeoutMs = 50 * 60_000;
/** What was told to stop has this long to do so. */
const stopMs = 15_000;

/** Run lanes beside each other; each file is a process of its own. */
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

/** A file has to come to an end by itself, too: one that passed and then hangs keeps something open that it should not. */
function runFile(file: string, tell: Teller, late: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const signal = AbortSignal.any([late, AbortSignal.timeout(fileTimeoutMs)]);
    if (signal.aborted) {
      tell.hangs(file, 'there was no time left for it');
      return resolve();
    }
    const stream = run({ files: [file], concurrency: 1, cwd: tell.root, signal });
    const onLate = () => {
      tell.hangs(file, 'it was stopped: it did not come to its end by itself');
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

/** Says what happens while it happens, and counts. */
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
      // A hook that failed fails every test of its file in the same words: the first ones do, until the report.
      if (!this.#told.has(event.file)) process.stdout.write(`${explain(event.details.error)}\n`);
      this.#told.add(event.file);
    });
    // What a test says of itself. The runner's own counts belong to no file.
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
