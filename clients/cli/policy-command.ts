import type { Command } from 'commander';
import { examples, globalsOf } from './globals.ts';

/** Each is loaded when it is called: testing policies needs no client, asking the API needs no YAML. */
export function define(command: Command): void {
  const ls = command.command('ls').description('the policies a run can name');
  examples(ls, ['policy ls', 'policy ls --json']);
  ls.action(async () => (await import('./policy/policy-show-command.ts')).list(globalsOf(ls)));

  const show = command.command('show').description('a policy as it is applied: merged, with everything it stands on');
  show.argument('<policy>', 'a name, or the digest that a result shows');
  examples(show, ['policy show sealed', 'policy show sha256:0123… --json']);
  show.action(async (policy: string) =>
    (await import('./policy/policy-show-command.ts')).show(policy, globalsOf(show)),
  );

  const test = command.command('test').description('try every policy against its tests; needs nothing that runs');
  test.argument('[policy...]', 'only these');
  test.option('--live', 'also start real cells under each policy, and see whether it holds what it says');
  examples(test, ['policy test', 'policy test sealed', 'policy test --live']);
  test.action(async (policies: string[], options: { live?: true }) => {
    const { test: run } = await import('./policy/policy-test-command.ts');
    await run(policies, options.live ?? false, globalsOf(test));
  });

  const tryFile = command.command('try').description('what a file would be as a policy here, without using it');
  tryFile.argument('<file>', 'a policy; what it extends is looked for among the policies of this installation');
  tryFile.option('--since <time>', 'also: which runs since then it would have refused');
  examples(tryFile, ['policy try policies/team.yaml', 'policy try team.yaml --since 2026-11-01']);
  tryFile.action(async (file: string, options: { since?: string }) =>
    (await import('./policy/policy-try-command.ts')).tryFile(file, options.since, globalsOf(tryFile)),
  );

  const diff = command.command('diff').description('in what two policies differ: names, digests or files');
  diff.argument('<a>').argument('<b>');
  examples(diff, ['policy diff sealed analytics', 'policy diff sha256:0123… sealed', 'policy diff sealed team.yaml']);
  diff.action(async (a: string, b: string) =>
    (await import('./policy/policy-diff-command.ts')).diff(a, b, globalsOf(diff)),
  );

  const explain = command.command('explain').description('why a run was let through or refused, and by which numbers');
  explain.argument('<run>');
  examples(explain, ['policy explain 0198a1b2-…']);
  explain.action(async (run: string) =>
    (await import('./policy/policy-explain-command.ts')).explain(run, globalsOf(explain)),
  );

  const revoke = command.command('revoke').description('take a policy’s text away, for good and everywhere');
  revoke.argument('<digest>', 'as policy ls shows it');
  revoke.requiredOption('--reason <text>', 'why; whoever is refused is told');
  examples(revoke, ['policy revoke sha256:0123… --reason "let through too much memory"']);
  revoke.action(async (digest: string, options: { reason: string }) =>
    (await import('./policy/policy-revoke-command.ts')).revoke(digest, options.reason, globalsOf(revoke)),
  );
}
