import { buildProgram } from '@hotcell/cli/program.ts';
import { helpOf } from '../support/help-of.ts';

/** docs/commands.md, whole: what every command says of itself. */
export async function commandsPage(): Promise<string> {
  const sections = [await helpOf(['--help'])].map(shown);
  for (const command of buildProgram().commands) {
    const help = await helpOf([command.name(), '--help']);
    sections.push(`## ${command.name()}`, shown(help));
    for (const inner of subcommandsIn(help)) sections.push(shown(await helpOf([command.name(), inner, '--help'])));
  }
  return `${[
    '# Commands',
    'What `./hotcell COMMAND --help` says of every command, made by `sh setup/node.sh test/docs/generate.ts`.',
    ...sections,
  ].join('\n\n')}\n`;
}

/** The options of every command stand once, at the top. */
const shown = (help: string) =>
  `\`\`\`text\n${help.replace(/\nGlobal Options:\n(?: {2}[^\n]*\n)+/, '').trim()}\n\`\`\``;

export function subcommandsIn(help: string): string[] {
  const [, commands = ''] = help.split('\nCommands:\n');
  const names = [...commands.matchAll(/^ {2}([a-z]+)(?:\|[a-z]+)? /gm)].map(([, name = '']) => name);
  return names.filter((name) => name !== 'help');
}
