import type { Command } from 'commander';
import { examples } from './globals.ts';

const shells = ['bash', 'zsh', 'fish'] as const;
type Shell = (typeof shells)[number];

/** Only the names of the commands; `--help` shows their options. */
const scripts: Readonly<Record<Shell, (names: string) => string>> = {
  bash: (names) => `_hotcell() {
  if [ "$COMP_CWORD" -eq 1 ]; then COMPREPLY=($(compgen -W "${names}" -- "\${COMP_WORDS[1]}"));
  else COMPREPLY=($(compgen -f -- "\${COMP_WORDS[COMP_CWORD]}")); fi
}
complete -o filenames -F _hotcell hotcell ./hotcell
`,
  zsh: (names) => `#compdef hotcell
_hotcell() { if (( CURRENT == 2 )); then compadd ${names}; else _files; fi }
compdef _hotcell hotcell ./hotcell
`,
  fish: (names) => `complete -c hotcell -n __fish_use_subcommand -f -a "${names}"
`,
};

export function define(command: Command): void {
  command.addArgument(command.createArgument('<shell>').choices(shells));
  examples(command, ['completion bash > ~/.local/share/bash-completion/completions/hotcell', 'completion zsh']);
  command.action((shell: Shell) => {
    const names = (command.parent?.commands ?? []).map((one) => one.name()).join(' ');
    process.stdout.write(scripts[shell](names));
  });
}
