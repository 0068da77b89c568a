import { messageOf } from '@hotcell/contract/errors.ts';
import type { Check } from '@hotcell/setup/doctor/check.ts';
import { examine, repair } from '@hotcell/setup/doctor/doctor.ts';
import type { Command } from 'commander';
import { examples, globalsOf, printJson } from './globals.ts';
import { say } from './voice.ts';
import { interruptible, progressFor } from './working.ts';

function printCheck({ name, status, message, fix }: Check): void {
  process.stdout.write(`${status.padEnd(4)}  ${name.padEnd(14)}  ${message}\n`);
  if (fix) process.stdout.write(`${' '.repeat(22)}fix: ${fix}\n`);
}

export function define(command: Command): void {
  command.option('--fix', 'fix what can be fixed automatically').option('--yes', 'change this machine without asking');
  examples(command, ['doctor', 'doctor --fix', 'doctor --json']);
  command.action(async ({ fix, yes }: { fix?: true; yes?: true }) => {
    const globals = globalsOf(command);
    if (fix) {
      interruptible('./hotcell doctor --fix');
      // The checks below also list what could not be fixed, with what to do.
      await repair(progressFor(globals), { yes: yes === true }).catch((error: unknown) => {
        say('error', messageOf(error));
      });
    }
    const { healthy, checks } = await examine(process.env);
    if (globals.json) printJson({ ok: healthy, checks });
    else for (const check of checks) printCheck(check);
    process.exitCode = healthy ? 0 : 1;
  });
}
