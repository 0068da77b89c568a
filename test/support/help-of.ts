import assert from 'node:assert/strict';
import { buildProgram, wordsOf } from '@hotcell/cli/program.ts';

/** What the command line prints for these words, which have to ask for help. */
export async function helpOf(words: readonly string[]): Promise<string> {
  let said = '';
  const program = buildProgram().configureOutput({
    writeOut: (text) => (said += text),
    writeErr: (text) => (said += text),
    // Whatever terminal this runs in.
    getOutHelpWidth: () => 100,
  });
  for (const command of program.commands) command.copyInheritedSettings(program);
  await assert.rejects(program.parseAsync(wordsOf(words), { from: 'user' }), { exitCode: 0 });
  return said;
}
