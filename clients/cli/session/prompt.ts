import { createInterface, type Interface } from 'node:readline/promises';
import { isFinished } from '@hotcell/contract/api/runs.ts';
import type { Session } from '@hotcell/client/index.ts';
import type { AtHand } from '../client.ts';
import { exitCodeOf, failureOf } from '../exit-code.ts';
import { printStep } from './print-step.ts';
import { isWhole } from './prompt-lines.ts';

const help =
  'Python, with names that last. A line that begins with $ runs in bash. An empty line ends a block. Ctrl-C interrupts, Ctrl-D finishes.';

/** Reads steps from a terminal until its end, and finishes the session then. */
export async function prompt(at: AtHand, session: Session): Promise<void> {
  const { reporter, note } = at;
  note(`session ${session.id}`);
  note(help);
  using terminal = createInterface({ input: process.stdin, output: process.stderr, historySize: 1000 });
  const typed = new Typed(terminal);
  const running: { step?: number } = {};
  terminal.on('SIGINT', () => {
    const { step } = running;
    if (step !== undefined) void session.interrupt(step).catch(() => undefined);
    else typed.drop();
  });
  for (let text = await typed.next(); text !== undefined; text = await typed.next())
    if (!(await runOne(at, session, running, text))) break;
  const result = await session.finish();
  reporter.ended(result);
  process.exitCode = exitCodeOf(result);
}

/** False when the session is over. A step that is refused is told, and the next one may be better. */
async function runOne(
  { note, reporter }: AtHand,
  session: Session,
  running: { step?: number },
  text: string,
): Promise<boolean> {
  if (text.trim() === '') return true;
  try {
    const { index, warnings = [] } = await session.begin(blockOf(text));
    running.step = index;
    reporter.warnings(warnings);
    const step = await session.stepEnd(index);
    await printStep(session, step);
    if (step.outcome !== 'succeeded') note(step.reason);
    return step.startedAt !== null || !isFinished(await session.show());
  } catch (error) {
    process.stderr.write(failureOf(error).text);
    return !isFinished(await session.show());
  } finally {
    delete running.step;
  }
}

const blockOf = (text: string) =>
  text.startsWith('$') ? { language: 'bash', code: text.slice(1).trimStart() } : { language: 'python', code: text };

/** What is typed, step by step. */
class Typed {
  readonly #terminal: Interface;
  readonly #lines: AsyncIterator<string>;
  #held: string[] = [];

  constructor(terminal: Interface) {
    this.#terminal = terminal;
    this.#lines = terminal[Symbol.asyncIterator]();
  }

  /** The lines of one step; undefined at the end of the input. */
  async next(): Promise<string | undefined> {
    for (;;) {
      this.#ask();
      const { value, done } = await this.#lines.next();
      if (!done) this.#held.push(value);
      if (!done && !isWhole(this.#held)) continue;
      const step = this.#held.join('\n');
      this.#held = [];
      return done && step === '' ? undefined : step;
    }
  }

  /** Ctrl-C while nothing runs. */
  drop(): void {
    this.#held = [];
    this.#terminal.write('', { ctrl: true, name: 'u' });
    process.stderr.write('\n');
    this.#ask();
  }

  #ask(): void {
    if (!process.stdin.isTTY) return;
    this.#terminal.setPrompt(this.#held.length === 0 ? '>>> ' : '... ');
    this.#terminal.prompt();
  }
}
