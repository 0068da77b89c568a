import type { Command } from 'commander';
import { examples } from './globals.ts';

export function define(command: Command): void {
  examples(command, ['down']);
  command.action(() => {
    process.exitCode = 1;
  });
}
