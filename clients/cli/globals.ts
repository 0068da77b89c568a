import type { Command } from 'commander';

/** What every command takes. Where to ask and with which key are the client's settings; these only override them. */
export interface Globals {
  json?: true;
  quiet?: true;
  url?: string;
  tenant?: string;
}

/** What a file in this folder exports: it gives the command its arguments, options, examples and action. */
export interface CommandFile {
  define(command: Command): void;
}

export function globalsOf(command: Command): Globals {
  const { json, quiet, url, tenant } = command.optsWithGlobals<Globals>();
  return { ...(json && { json }), ...(quiet && { quiet }), ...(url && { url }), ...(tenant && { tenant }) };
}

/** Data goes to stdout and nothing else does. One object is one line. */
export function printJson(value: unknown): void {
  process.stdout.write(`${JSON.stringify(value)}\n`);
}

export function examples(command: Command, lines: readonly string[]): void {
  command.addHelpText('after', `\nExamples:\n${lines.map((line) => `  ./hotcell ${line}`).join('\n')}`);
}
