import type { Count } from './count.ts';

/** Prints all failures again, so that the end of a log suffices, and the counts as the last line. */
export function report(count: Count, leftOver: readonly string[]): number {
  for (const what of leftOver)
    count.failures.push({ file: '(after all tests)', name: 'nothing is left over', how: what });
  const slowest = [...count.seconds].toSorted(([, a], [, b]) => b - a).slice(0, 10);
  process.stdout.write(
    `\nslowest files: ${slowest.map(([file, seconds]) => `${file} ${seconds.toFixed(0)} s`).join(', ')}\n`,
  );
  for (const { file, name, how } of count.failures) process.stdout.write(`\nFAILED ${file}: ${name}\n${how}\n`);
  process.stdout.write(`\n${count.line()}\n`);
  return count.failed === 0 && count.skipped === 0 && count.passed > 0 ? 0 : 1;
}
