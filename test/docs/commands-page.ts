import { buildProgram } from '@hotcell/cli/program.ts';
import { helpOf } from '../support/help-of.ts';

/** docs/commands.md, whole: what every command says of itself. */
export async function commandsPage(): Promise<string> {
  const sections = [await helpOf(['--help'])].map(shown);
  for (const command of buildProgram().commands) {
    const help = await helpOf([command.name(), '--help']);
    sections.push(`## ${command.name()}`, shown(help));
    sections.push(...(await innerPages([command.name()], help)));
  }
  return `${[
    '# Commands',
    'What `./hotcell COMMAND --help` says of every command, made by `sh setup/node.sh test/docs/generate.ts`.',
    ...sections,
  ].join('\n\n')}\n`;
}

/** What the commands inside a command say of themselves, at every depth. */
async function innerPages(path: readonly string[], help: string): Promise<string[]> {
  const pages: string[] = [];
  for (const inner of subcommandsIn(help)) {
    const text = await helpOf([...path, inner, '--help']);
    pages.push(shown(text), ...(await innerPages([...path, inner], text)));
  }
  return pages;
}

/** The options of every command stand once, at the top. */
const shown = (help: string) =>
  `\`\`\`text\n${help.replace(/\nGlobal Options:\n(?: {2}[^\n]*\n)+/, '').trim()}\n\`\`\``;

export function subcommandsIn(help: string): string[] {
  const [, commands = ''] = help.split('\nCommands:\n');
  const names = [...commands.matchAll(/^ {2}([a-z][a-z-]*)(?:\|[a-z-]+)? /gm)].map(([, name = '']) => name);
  return names.filter((name) => name !== 'help');
}
