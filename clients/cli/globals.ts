import type { Command } from 'commander';

/** Options of every command. They override the client's settings. */
export interface Globals {
  json?: true;
  quiet?: true;
  url?: string;
  tenant?: string;
}

/** A command's file: `define` adds arguments, options, examples and the action. */
export interface CommandFile {
  define(command: Command): void;
}

export function globalsOf(command: Command): Globals {
  const { json, quiet, url, tenant } = command.optsWithGlobals<Globals>();
  return { ...(json && { json }), ...(quiet && { quiet }), ...(url && { url }), ...(tenant && { tenant }) };
}

/** Only data goes to stdout, one object a line. */
export function printJson(value: unknown): void {
  process.stdout.write(`${JSON.stringify(value)}\n`);
}

/** A subcommand, with its examples. */
export function subcommand(command: Command, name: string, summary: string, lines: readonly string[]): Command {
  const made = command.command(name).description(summary);
  examples(made, lines);
  return made;
}

export function examples(command: Command, lines: readonly string[]): void {
  command.addHelpText(
    'after',
    `\nExamples:\n${lines.map((line) => (line.includes('./hotcell ') ? `  ${line}` : `  ./hotcell ${line}`)).join('\n')}`,
  );
}
