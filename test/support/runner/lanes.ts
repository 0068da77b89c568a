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

/** Run lanes beside each other; each file is a process of its own. */
export async function runLanes(root: string, lanes: readonly Lane[]): Promise<Count> {
  const count = new Count(root);
  const begun = performance.now();
  await Promise.all(lanes.filter((lane) => lane.files.length > 0).map((lane) => runLane(root, lane, count, begun)));
  return count;
}

function runLane(root: string, lane: Lane, count: Count, begun: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const stream = run({ files: [...lane.files], concurrency: lane.concurrency, timeout: fileTimeoutMs, cwd: root });
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
    stream.on('test:stderr', (event) => process.stderr.write(event.message));
    stream.on('end', resolve);
    stream.on('error', reject);
    stream.resume();
  });
}
