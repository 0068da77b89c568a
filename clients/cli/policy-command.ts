import type { Command } from 'commander';
import { aRun } from './run-ref.ts';
import { globalsOf, subcommand } from './globals.ts';

const api = async () => await import('./policy/ask-policies.ts');

/** Each subcommand loads its own file: testing policies needs no client, asking the API no YAML. */
export function define(command: Command): void {
  const ls = subcommand(command, 'ls', 'list the policies', ['policy ls', 'policy ls --json']);
  ls.action(async () => (await api()).list(globalsOf(ls)));

  const show = subcommand(command, 'show', 'show a policy as applied: merged with everything it extends', [
    'policy show sealed',
    'policy show sha256:0123… --json',
  ]).argument('<policy>', 'a name or a digest');
  show.action(async (policy: string) => (await api()).show(policy, globalsOf(show)));

  const test = subcommand(command, 'test', 'run the tests of the policies; needs no services', [
    'policy test',
    'policy test sealed',
    'policy test --live',
  ])
    .argument('[policy...]', 'only these policies')
    .option('--live', 'also start real cells under each policy and check what they can do');
  test.action(async (policies: string[], { live = false }: { live?: boolean }) =>
    (await import('./policy/policy-test-command.ts')).test(policies, live, globalsOf(test)),
  );

  const tryFile = subcommand(command, 'try', 'check a policy file without using it', [
    'policy try team.yaml',
    'policy try team.yaml --since 2026-11-01',
  ])
    .argument('<file>', 'a policy file; it may extend the policies of this installation')
    .option('--since <time>', 'also list the runs since then that it would have refused');
  tryFile.action(async (file: string, { since }: { since?: string }) =>
    (await import('./policy/policy-try-command.ts')).tryFile(file, since, globalsOf(tryFile)),
  );

  const diff = subcommand(command, 'diff', 'compare two policies: names, digests or files', [
    'policy diff sealed analytics',
    'policy diff sha256:0123… sealed',
    'policy diff sealed team.yaml',
  ])
    .argument('<a>')
    .argument('<b>');
  diff.action(async (a: string, b: string) =>
    (await import('./policy/policy-diff-command.ts')).diff(a, b, globalsOf(diff)),
  );

  const explain = subcommand(command, 'explain', 'explain why a run was admitted or refused, and its limits', [
    'policy explain 0198a1b2-…',
  ]).argument('<run>', aRun);
  explain.action(async (run: string) => (await api()).showExplanation(run, globalsOf(explain)));

  const prompt = subcommand(command, 'prompt', 'print what to tell a model of the cells under a policy', [
    'policy prompt sealed',
  ]).argument('<policy>', 'a name or a digest');
  prompt.action(async (policy: string) =>
    (await import('./policy/policy-prompt-command.ts')).prompt(policy, globalsOf(prompt)),
  );

  const revoke = subcommand(command, 'revoke', 'revoke a version of a policy everywhere; this can’t be undone', [
    'policy revoke sha256:0123… --reason "let through too much memory"',
  ])
    .argument('<digest>', 'as shown by policy ls')
    .requiredOption('--reason <text>', 'why; refused callers see it');
  revoke.action(async (digest: string, { reason }: { reason: string }) =>
    (await api()).revoke(digest, reason, globalsOf(revoke)),
  );
}
