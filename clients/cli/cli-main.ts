import { failureOf } from './exit-code.ts';
import { buildProgram, wordsOf } from './program.ts';

// A reader like `| head` may stop reading: end without failing.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(0);
  throw error;
});

try {
  await buildProgram().parseAsync(wordsOf(process.argv.slice(2)), { from: 'user' });
} catch (error) {
  const { code, text } = failureOf(error);
  process.stderr.write(text);
  process.exitCode = code;
}
