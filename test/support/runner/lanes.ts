import { relative } from 'node:path';
import { run } from 'node:test';
import { Count, explain } from './count.ts';

export interface Lane {
  name: string;
  files: readonly string[];
  /** How many files run at once in this lane. */
  concurrency: number;
}

/** A file that takes longer than this hangs; nothing of ours takes a third of it on a busy machine. */
const fileTimeoutMs = 6 * 60_000;
/** All of it takes a third of this: whoever waits for the end hears what did not come to one. */
const allTimeoutMs = 40 * 60_000;
/** What was told to stop has this long to do so. */
const stopMs = 15_000;

/** Run lanes beside each other; each file is a process of its own. */
export async function runLanes(root: string, lanes: readonly Lane[]): Promise<Count> {
  const count = new Count(root);
  const begun = performance.now();
  const late = new AbortController();
  const alarm = setTimeout(() => late.abort(), allTimeoutMs);
  await Promise.all(
    lanes.filter((lane) => lane.files.length > 0).map((lane) => runLane(root, lane, count, begun, late.signal)),
  );
  clearTimeout(alarm);
  return count;
}

function runLane(root: string, lane: Lane, count: Count, begun: number, late: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const { concurrency } = lane;
    const stream = run({ files: [...lane.files], concurrency, timeout: fileTimeoutMs, cwd: root, signal: late });
    late.addEventListener('abort', () => {
      const how = `the lane "${lane.name}" did not end within ${allTimeoutMs / 60_000} minutes`;
      count.failures.push({ file: lane.name, name: 'everything comes to an end', how });
      setTimeout(resolve, stopMs);
    });
    const say = (mark: string, file: string | undefined, text: string) => {
      const at = ((performance.now() - begun) / 1000).toFixed(0).padStart(4);
      process.stdout.write(`${at} s ${mark} ${file ? `${relative(root, file)}: ` : ''}${text}\n`);
    };
    stream.on('test:pass', (event) => {
      count.pass(event);
      if (event.details.type !== 'suite') say(event.skip === undefined ? 'ok  ' : 'SKIP', event.file, event.name);
    });
    const told = new Set<string | undefined>();
    stream.on('test:fail', (event) => {
      count.fail(event);
      say('FAIL', event.file, event.name);
      // A hook that failed fails every test of its file in the same words: the first ones do, until the report.
      if (!told.has(event.file)) process.stdout.write(`${explain(event.details.error)}\n`);
      told.add(event.file);
    });
    // What a test says of itself. The runner's own counts belong to no test.
    stream.on('test:diagnostic', (event) => {
      if (event.nesting > 0) process.stdout.write(`           ${event.message}\n`);
    });
    stream.on('test:stderr', (event) => process.stderr.write(event.message));
    stream.on('end', resolve);
    stream.on('error', reject);
    stream.resume();
  });
}
