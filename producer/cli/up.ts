import type { Command } from 'commander';
import { examples } from './globals.ts';

export function define(command: Command): void {
  examples(command, ['up']);
  command.action(() => {
    process.exitCode = 1;
  });
}
