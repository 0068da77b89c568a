import type { Command } from 'commander';
import { examples, globalsOf } from './globals.ts';

/** Each subcommand loads its own file: testing policies needs no client, asking the API no YAML. */
export function define(command: Command): void {
  const ls = command.command('ls').description('list the policies');
  examples(ls, ['policy ls', 'policy ls --json']);
  ls.action(async () => (await import('./policy/policy-show-command.ts')).list(globalsOf(ls)));

  const show = command.command('show').description('show a policy as applied: merged with everything it extends');
  show.argument('<policy>', 'a name or a digest');
  examples(show, ['policy show sealed', 'policy show sha256:0123… --json']);
  show.action(async (policy: string) =>
    (await import('./policy/policy-show-command.ts')).show(policy, globalsOf(show)),
  );

  const test = command.command('test').description('run the tests of the policies; needs no services');
  test.argument('[policy...]', 'only these policies');
  test.option('--live', 'also start real cells under each policy and check what they can do');
  examples(test, ['policy test', 'policy test sealed', 'policy test --live']);
  test.action(async (policies: string[], options: { live?: true }) => {
    const { test: run } = await import('./policy/policy-test-command.ts');
    await run(policies, options.live ?? false, globalsOf(test));
  });

  const tryFile = command.command('try').description('check a policy file without using it');
  tryFile.argument('<file>', 'a policy file; it may extend the policies of this installation');
  tryFile.option('--since <time>', 'also list the runs since then that it would have refused');
  examples(tryFile, ['policy try policies/team.yaml', 'policy try team.yaml --since 2026-11-01']);
  tryFile.action(async (file: string, options: { since?: string }) =>
    (await import('./policy/policy-try-command.ts')).tryFile(file, options.since, globalsOf(tryFile)),
  );

  const diff = command.command('diff').description('compare two policies: names, digests or files');
  diff.argument('<a>').argument('<b>');
  examples(diff, ['policy diff sealed analytics', 'policy diff sha256:0123… sealed', 'policy diff sealed team.yaml']);
  diff.action(async (a: string, b: string) =>
    (await import('./policy/policy-diff-command.ts')).diff(a, b, globalsOf(diff)),
  );

  const explain = command.command('explain').description('explain why a run was admitted or refused, and its limits');
  explain.argument('<run>');
  examples(explain, ['policy explain 0198a1b2-…']);
  explain.action(async (run: string) =>
    (await import('./policy/policy-explain-command.ts')).explain(run, globalsOf(explain)),
  );

  const revoke = command.command('revoke').description('revoke a version of a policy everywhere; this can’t be undone');
  revoke.argument('<digest>', 'as shown by policy ls');
  revoke.requiredOption('--reason <text>', 'why; refused callers see it');
  examples(revoke, ['policy revoke sha256:0123… --reason "let through too much memory"']);
  revoke.action(async (digest: string, options: { reason: string }) =>
    (await import('./policy/policy-revoke-command.ts')).revoke(digest, options.reason, globalsOf(revoke)),
  );
}
