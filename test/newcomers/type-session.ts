import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

/** How a command is looked at: on a terminal of so many columns, or through a pipe. */
export type View = 80 | 60 | 'pipe';
export const views: readonly View[] = [80, 60, 'pipe'];

export interface Step {
  /** As a person types it into a shell. */
  type: string;
  /** What is typed where there is no terminal that has these answers. */
  pipe?: string;
  /** What is typed into the program once it has said this. */
  answers?: readonly { after: string; keys: string }[];
}

export interface Place {
  cwd: string;
  env: Readonly<Record<string, string>>;
}

/** Types one step, and returns what a person sees. */
export async function typeStep(
  { type: asked, pipe, answers = [] }: Step,
  view: View,
  { cwd, env }: Place,
): Promise<string> {
  const type = view === 'pipe' ? (pipe ?? asked) : asked;
  const shell = ['bash', '-c', type] as const;
  const terminal = ['python3', join(import.meta.dirname, 'terminal.py'), String(view), ...shell] as const;
  const [program, ...words] = view === 'pipe' ? shell : terminal;
  const child = spawn(program, words, { cwd, env: { ...process.env, TERM: 'xterm', ...env }, stdio: 'pipe' });
  const seen = { stdout: '', stderr: '' };
  const left = [...answers];
  for (const name of ['stdout', 'stderr'] as const)
    child[name].setEncoding('utf8').on('data', (text: string) => {
      seen[name] += text;
      if (left[0] && seen[name].includes(left[0].after)) child.stdin.write(left.shift()?.keys ?? '');
    });
  if (view === 'pipe') child.stdin.end();
  const [code] = await once(child, 'close');
  const { stdout, stderr } = seen;
  return `$ ${type}\n${stdout}${view === 'pipe' && stderr !== '' ? `--- stderr\n${stderr}` : ''}[${code}]\n`;
}
